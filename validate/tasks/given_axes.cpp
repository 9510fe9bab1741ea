// SPDX-License-Identifier: Apache-2.0
#include "validate/tasks/given_axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "validate/base/error.hpp"

namespace assay {

namespace {

using AxisOrder = std::vector<std::size_t>;  // which of the contract's axes each axis in the file is
using Extents = std::vector<std::int64_t>;

constexpr std::size_t kMostReordered = 6;  // of a tensor whose orders are tried

AxisOrder contract_order(std::size_t axes) {
  AxisOrder order(axes);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

std::size_t moved(const AxisOrder& order) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < order.size(); ++i) count += order[i] != i;
  return count;
}

Extents in_contract_order(const Extents& shape, const AxisOrder& order) {
  Extents ordered(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) ordered[order[i]] = shape[i];
  return ordered;
}

bool begins_a_word(std::string_view axis, char letter) {
  for (std::size_t i = 0; i < axis.size(); ++i)
    if ((i == 0 || axis[i - 1] == '_') && axis[i] == letter) return true;
  return false;
}

// The only order in which each letter begins a word of its axis.
std::optional<AxisOrder> order_of_letters(const TensorSpec& spec, std::string_view letters) {
  std::optional<AxisOrder> found;
  if (letters.size() != spec.axes.size() || letters.size() > kMostReordered) return found;
  AxisOrder order = contract_order(letters.size());
  do {
    bool fits = true;
    for (std::size_t i = 0; fits && i < order.size(); ++i) fits = begins_a_word(spec.axes[order[i]].axis.name, letters[i]);
    if (fits && found) return std::nullopt;
    if (fits) found = order;
  } while (std::next_permutation(order.begin(), order.end()));
  return found;
}

std::optional<AxisOrder> order_of_names(const TensorSpec& spec, std::string_view names) {
  AxisOrder order;
  while (order.size() < spec.axes.size()) {
    const std::string_view word = names.substr(0, names.find(','));
    const auto at = std::find_if(spec.axes.begin(), spec.axes.end(), [&](const Extent& e) { return e.text() == word; });
    const auto axis = static_cast<std::size_t>(at - spec.axes.begin());
    if (at == spec.axes.end() || std::find(order.begin(), order.end(), axis) != order.end()) return std::nullopt;
    order.push_back(axis);
    if (word.size() + 1 == names.size()) return std::nullopt;  // a comma at the end
    names.remove_prefix(std::min(word.size() + 1, names.size()));
  }
  return names.empty() ? std::optional(order) : std::nullopt;
}

std::string layout_flag(const TensorSpec& spec, const AxisOrder& order) {
  std::string axes;
  for (const std::size_t axis : order) axes += fmt::format("{}{}", axes.empty() ? "" : ",", spec.axes[axis].text());
  return fmt::format(" --layout {}={}", spec.name, axes);
}

// The only layout, of those that are offered, that moves the fewest axes.
class FewestMoved {
 public:
  void offer(const std::string& flags, const AxisOrder& order) {
    if (ways_ > 0 && moved(order) > least_) return;
    if (ways_ > 0 && moved(order) == least_) {
      ++ways_;
      return;
    }
    flags_ = flags;
    least_ = moved(order);
    ways_ = 1;
  }
  std::string flags() const { return ways_ == 1 ? flags_ : ""; }

 private:
  std::string flags_;
  std::size_t least_ = 0, ways_ = 0;
};

// Takes the extents of a tensor for the axes of the case, with which they must agree; then those that only follow from an axis.
void read_extents(const Extents& shape, const TensorSpec& spec, Case& c, std::map<Axis, std::string_view>& known, bool of_axes) {
  const auto fail = [&](const std::string& expected) {
    throw BadInput(fmt::format("'{}' has the shape {}, and {} was expected", spec.name, shape_text(shape), expected));
  };
  if (shape.size() != spec.axes.size()) fail(axes_text(spec));
  for (std::size_t i = 0; i < spec.axes.size(); ++i) {
    if (spec.axes[i].is_axis() != of_axes) continue;
    const Axis& axis = spec.axes[i].axis;
    const std::int64_t extent = shape[i];
    if (!of_axes) {
      if (extent == spec.axes[i].of(c.dims)) continue;
      fail(fmt::format("{}, where {} is {}", axes_text(spec), axis.name, c.dims[axis]));
    }
    if (axis == Axis::one) {
      if (extent != 1) fail("[1]");
    } else if (!known.try_emplace(axis, spec.name).second && c.dims[axis] != extent) {
      throw BadInput(
          fmt::format("'{}' has {}={}, and '{}' has {}={}", spec.name, axis.name, extent, known[axis], axis.name, c.dims[axis]));
    }
    c.dims[axis] = extent;
  }
}

// Reads all shapes, and checks the case.  Throws BadInput.
void read_shapes(const Op& op, const std::vector<NamedTensor>& tensors, const std::vector<Extents>& shapes, Case& c) {
  std::map<Axis, std::string_view> known;
  for (const bool of_axes : {true, false})
    for (std::size_t i = 0; i < tensors.size(); ++i) read_extents(shapes[i], *tensors[i].spec, c, known, of_axes);
  check(c, op.shape());
}

// The layouts that make the shapes fit, of one tensor, or the same of all that have as many axes; those that move least.  Empty
// if there is none, or more than one.
std::string layouts_that_fit(const Op& op, const std::vector<NamedTensor>& tensors, const Case& c) {
  FewestMoved best;
  const auto attempt = [&](const std::vector<std::size_t>& moving, const AxisOrder& order) {
    std::vector<Extents> shapes;
    for (const NamedTensor& t : tensors) shapes.push_back(t.tensor->shape);
    std::string flags;
    for (const std::size_t i : moving) {
      shapes[i] = in_contract_order(shapes[i], order);
      flags += layout_flag(*tensors[i].spec, order);
    }
    Case tried = c;
    try {
      read_shapes(op, tensors, shapes, tried);
    } catch (const BadInput&) {
      return;
    }
    best.offer(flags, order);
  };
  std::vector<std::vector<std::size_t>> sets;
  for (std::size_t axes = 2; axes <= kMostReordered; ++axes) {
    std::vector<std::size_t> same;
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i].spec->axes.size() == axes && tensors[i].tensor->shape.size() == axes) {
        same.push_back(i);
        sets.push_back({i});
      }
    if (same.size() > 1) sets.push_back(same);
  }
  for (const std::vector<std::size_t>& moving : sets) {
    AxisOrder order = contract_order(tensors[moving[0]].tensor->shape.size());
    while (std::next_permutation(order.begin(), order.end())) attempt(moving, order);
  }
  return best.flags();
}

}  // namespace

std::string axes_text(const TensorSpec& spec) {
  std::string text;
  for (const Extent& e : spec.axes) text += fmt::format("{}{}", text.empty() ? "" : ", ", e.text());
  return fmt::format("[{}]", text);
}

void put_axes_in_order(TensorFile& file, const Op& op, const std::vector<std::string>& layouts) {
  std::vector<std::string_view> seen;
  for (const std::string& layout : layouts) {
    const std::string_view flag = layout, tensor = flag.substr(0, flag.find('='));
    const std::size_t at = tensor_index(op, tensor);
    if (tensor.size() == flag.size())
      throw BadInput(fmt::format("--layout {}: NAME=AXES was expected, like q=batch,heads,seq_q,head_dim or q=bhsd", layout));
    if (at == op.tensors.size()) {
      Names names;
      for (const TensorSpec& t : op.tensors) names.push_back(t.name);
      throw BadInput(fmt::format("--layout {}: {}", layout, unknown(fmt::format("tensor of {}", op.name), tensor, names)));
    }
    if (std::find(seen.begin(), seen.end(), tensor) != seen.end())
      throw BadInput(fmt::format("--layout names '{}' twice", tensor));
    seen.push_back(tensor);
    const TensorSpec& spec = op.tensors[at];
    const std::string_view axes = flag.substr(tensor.size() + 1);
    std::optional<AxisOrder> order = order_of_names(spec, axes);
    if (!order) order = order_of_letters(spec, axes);
    if (!order)
      throw BadInput(
          fmt::format("--layout {}: an order of {} was expected, by names with commas between them, or by letters that "
                      "begin words of the names",
                      layout, axes_text(spec)));
    for (FileTensor& t : file.tensors) {
      if (t.name != tensor) continue;
      if (t.shape.size() != order->size())
        throw BadInput(fmt::format("--layout {}: '{}' has the shape {}", layout, tensor, shape_text(t.shape)));
      put_in_order(t, *order, file);
    }
  }
}

void read_axes(const Op& op, const std::vector<NamedTensor>& tensors, Case& c) {
  std::vector<Extents> shapes;
  for (const NamedTensor& t : tensors) shapes.push_back(t.tensor->shape);
  const Case before = c;
  try {
    read_shapes(op, tensors, shapes, c);
  } catch (const BadInput& e) {
    const std::string flags = layouts_that_fit(op, tensors, before);
    std::string_view why = e.what();
    const auto tells = [&](const NamedTensor& t) {
      return std::any_of(t.spec->axes.begin(), t.spec->axes.end(),
                         [&](const Extent& extent) { return why.find(fmt::format("{}=", extent.axis.name)) != why.npos; });
    };
    const bool of_axes = std::any_of(tensors.begin(), tensors.end(), tells);
    if (flags.empty() && (!of_axes || why.starts_with("'"))) throw;  // it is not about shapes, or shows the shape
    if (why.ends_with('.')) why.remove_suffix(1);
    std::string read;
    for (const NamedTensor& t : tensors)
      if (t.spec->axes.size() > 1 && (flags.empty() || flags.find(fmt::format(" {}=", t.spec->name)) != flags.npos))
        read += fmt::format("{}'{}' {} is read as {}", read.empty() ? "" : ", ", t.spec->name, shape_text(t.tensor->shape),
                            axes_text(*t.spec));
    if (read.empty()) throw;
    throw BadInput(fmt::format("{}: {}{}{}", why, read, flags.empty() ? "" : ", and would fit with", flags));
  }
}

std::string layout_that_fits(const TensorSpec& spec, const Extents& shape, const Extents& expected) {
  if (shape.size() != expected.size() || shape.size() > kMostReordered) return "";
  FewestMoved best;
  AxisOrder order = contract_order(shape.size());
  while (std::next_permutation(order.begin(), order.end()))
    if (in_contract_order(shape, order) == expected) best.offer(layout_flag(spec, order), order);
  return best.flags();
}

}  // namespace assay
