// SPDX-License-Identifier: Apache-2.0
#include "validate/tasks/given.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "validate/base/error.hpp"
#include "validate/base/memory.hpp"
#include "validate/problem/image.hpp"
#include "validate/tasks/given_axes.hpp"
#include "validate/tasks/given_names.hpp"
#include "validate/tasks/selection.hpp"
#include "validate/tasks/task.hpp"
#include "validate/values/islands.hpp"
#include "validate/values/tensor_bits.hpp"

namespace assay {

namespace {

// A value that the file holds by a name, in its metadata or as a tensor of one element, as text.  Throws BadInput if it is none,
// or both say it, and not the same.  `op`: whose tensors are no such values; null: it is not known yet.
std::optional<std::string> said(const TensorFile& file, std::string_view key, const Op* op = nullptr) {
  std::optional<std::string> text;
  const FileTensor* const t = file.find(key);
  if (t && (!op || tensor_index(*op, key) == op->tensors.size())) text = value_text(*t);
  if (const auto at = file.metadata.find(std::string(key)); at != file.metadata.end()) {
    if (text && *text != at->second)
      throw BadInput(fmt::format("{} is {} as a tensor and {} in the metadata", key, *text, at->second));
    text = at->second;
  }
  if (text && text->empty()) throw BadInput(fmt::format("'{}' is an empty text", key));
  return text;
}

// The case that the metadata names, of which the dtype and the extents need not be those of the tensors; none if it names none.
std::optional<Case> case_said(const TensorFile& file) {
  const std::optional<std::string> line = said(file, kCaseKey);
  if (!line) return std::nullopt;
  return parse_repro(*line, op_shapes()).what;
}

const Op& op_said(const TensorFile& file, const std::optional<Case>& made, const std::string& flag) {
  std::string name = flag;
  for (const std::string& other : {said(file, kOpKey).value_or(""), made ? made->op : ""}) {
    if (name.empty()) name = other;
    if (!other.empty() && other != name)
      throw BadInput(fmt::format("they are of the op '{}' by their metadata, and '{}' was asked for", other, name));
  }
  if (name.empty()) throw BadInput("nothing says which op they are of; --op, or 'op' in the metadata, was expected");
  return op_named(name);
}

// Sets an attribute that no other place may contradict.
void set(Case& c, std::map<std::string_view, std::string>& known, const Attribute& a, const std::string& text) {
  const double value = value_of(a, text);
  const auto [at, fresh] = known.try_emplace(a.name, text);
  if (!fresh && value_of(a, at->second) != value)
    throw BadInput(fmt::format("{} is {} in one place and {} in another", a.name, at->second, text));
  if (value != a.standard) c.attributes[std::string(a.name)] = value;
}

void read_attributes(const TensorFile& file, const std::optional<Case>& made, const GivenFlags& flags, const Op& op, Case& c) {
  std::map<std::string_view, std::string> known;
  Names names;
  for (const Attribute& a : op.attributes) {
    names.push_back(a.name);
    if (made) set(c, known, a, text_of(a, attribute(*made, a.name, a.standard)));
    if (const std::optional<std::string> text = said(file, a.name, &op)) set(c, known, a, *text);
  }
  for (const std::string& flag : flags.attributes) {
    const std::size_t equals = std::min(flag.find('='), flag.size());
    const std::string name = flag.substr(0, equals);
    const Attribute* a = nullptr;
    for (const Attribute& each : op.attributes)
      if (each.name == name) a = &each;
    if (!a)
      throw BadInput(op.attributes.empty() ? fmt::format("{} has no attributes", op.name)
                                           : unknown(fmt::format("attribute of {}", op.name), name, names));
    if (equals == flag.size()) throw BadInput(fmt::format("'{}': KEY=VALUE was expected", flag));
    set(c, known, *a, flag.substr(equals + 1));
  }
}

// The tensor of the file that the contract names; null: it is not there.
const FileTensor* named(const TensorFile& file, const TensorSpec& spec, const Op& op, const Case& c) {
  const FileTensor* t = file.find(spec.name);
  if (t && !present(spec, c))
    throw BadInput(fmt::format("'{}' is there, which {} has only with another '{}'  (validate describe {})", spec.name, op.name,
                               spec.options.present_if, op.name));
  return t;
}

// Takes the dtype of a tensor for that of the case.
void read_dtype(const FileTensor& t, const TensorSpec& spec, Case& c, std::string_view& from) {
  const auto fail = [&](const std::string& expected) {
    throw BadInput(
        fmt::format("'{}' has the dtype {}, and {} was expected", t.name, t.known ? name(*t.known) : t.dtype, expected));
  };
  if (spec.options.dtype) {
    if (t.known != spec.options.dtype) fail(std::string(name(*spec.options.dtype)));
  } else if (!from.empty()) {
    if (t.known != c.dtype) fail(fmt::format("{} as of {}", name(c.dtype), from));
  } else if (!t.known || std::find(kActivationDTypes.begin(), kActivationDTypes.end(), *t.known) == kActivationDTypes.end()) {
    fail("f16, bf16 or f32");
  } else {
    c.dtype = *t.known;
    from = spec.name;
  }
}

Tensor tensor_of(const FileTensor& t) {
  Tensor out{.data = const_cast<std::byte*>(t.data.data()), .dtype = *t.known, .rank = static_cast<int>(t.shape.size())};
  std::int64_t stride = 1;
  for (int i = out.rank; i-- > 0; stride *= t.shape[static_cast<std::size_t>(i)]) {
    out.shape[static_cast<std::size_t>(i)] = t.shape[static_cast<std::size_t>(i)];
    out.stride[static_cast<std::size_t>(i)] = stride;
  }
  return out;
}

std::string digest_of(const Op& op, std::span<const Tensor> tensors) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < op.tensors.size(); ++i)
    if (is_given(op.tensors[i]) && tensors[i].rank) sum = digest(tensors[i], sum);
  return fmt::format("{:016x}", sum);
}

[[noreturn]] void lacks(const TensorFile& file, const Op& op, const TensorSpec& spec) {
  Names names;
  for (const FileTensor& t : file.tensors)
    if (tensor_index(op, t.name) == op.tensors.size()) names.push_back(t.name);
  const std::string_view near = nearest(spec.name, names);
  throw BadInput(fmt::format("the tensor '{}' {} of {} is missing{}", spec.name, axes_text(spec), op.name,
                             near.empty() ? "" : fmt::format("; is '{}' meant to be it?", near)));
}

// Throws BadInput if the metadata of outputs say another op or another attribute than the inputs have.
void require_same_case(const Given& g, const TensorFile& outputs) {
  op_said(outputs, std::nullopt, std::string(g.op->name));
  for (const Attribute& a : g.op->attributes) {
    const double value = attribute(g.c, a.name, a.standard);
    if (const std::optional<std::string> text = said(outputs, a.name, g.op); text && value_of(a, *text) != value)
      throw BadInput(fmt::format("{} is {} by their metadata, and the inputs have {}", a.name, *text, text_of(a, value)));
  }
}

std::vector<std::string> names_in(const TensorFile& file) {
  std::vector<std::string> names;
  for (const FileTensor& t : file.tensors) names.push_back(t.name);
  for (const auto& [key, text] : file.metadata) names.push_back(key);
  return names;
}

}  // namespace

Given given_case(TensorFile file, const GivenFlags& flags) {
  const std::optional<Case> made = case_said(file);
  Given g{.op = &op_said(file, made, flags.op), .unused = {}};
  const Op& op = *g.op;
  g.c = {.op = std::string(op.name), .fill = "normal", .source = "file", .reduced = {}};
  read_attributes(file, made, flags, op, g.c);
  put_axes_in_order(file, op, flags.layouts);
  g.names = names_in(file);
  g.tensors.resize(op.tensors.size());
  std::vector<NamedTensor> tensors;
  std::string_view dtype;
  for (std::size_t i = 0; i < op.tensors.size(); ++i) {
    const TensorSpec& spec = op.tensors[i];
    const FileTensor* t = is_given(spec) ? named(file, spec, op, g.c) : nullptr;
    if (!t && is_given(spec) && present(spec, g.c)) lacks(file, op, spec);
    if (!t) continue;
    tensors.push_back({t, &spec});
    read_dtype(*t, spec, g.c, dtype);
  }
  g.unused = unused_in(file, op, flags.ignored);
  read_axes(op, tensors, g.c);
  for (const NamedTensor& t : tensors) g.tensors[tensor_index(op, t.spec->name)] = tensor_of(*t.tensor);
  g.memory = std::move(file.memory);
  g.c.fill = kGivenFill;
  if (made && made->dtype == g.c.dtype && made->dims == g.c.dims &&
      said(file, kDigestKey).value_or("") == digest_of(op, g.tensors)) {
    g.c.fill = made->fill;
    g.c.layout = made->layout;
    g.c.seed = made->seed;
  }
  return g;
}

Given with_outputs(Given g, TensorFile outputs, const GivenFlags& flags) {
  require_same_case(g, outputs);
  put_axes_in_order(outputs, *g.op, flags.layouts);
  for (std::string& name : names_in(outputs)) g.names.push_back(std::move(name));
  bool any = false;
  g.outputs.resize(g.op->tensors.size());
  for (std::size_t i = 0; i < g.op->tensors.size(); ++i) {
    const TensorSpec& spec = g.op->tensors[i];
    if (spec.role != Role::output || !present(spec, g.c)) continue;
    const FileTensor* t = named(outputs, spec, *g.op, g.c);
    if (!t && g.op->composite) lacks(outputs, *g.op, spec);
    if (!t) continue;
    std::vector<std::int64_t> expected;
    for (const Extent& e : spec.axes) expected.push_back(e.of(g.c.dims));
    if (t->shape != expected) {
      const std::string fits = layout_that_fits(spec, t->shape, expected);
      throw BadInput(fmt::format("'{}' has the shape {}, and {} {} was expected{}{}", t->name, shape_text(t->shape),
                                 axes_text(spec), shape_text(expected), fits.empty() ? "" : "; it would fit with", fits));
    }
    std::string_view from = "the inputs";
    read_dtype(*t, spec, g.c, from);
    g.outputs[i] = tensor_of(*t);
    any = true;
  }
  const auto first =
      std::find_if(g.op->tensors.begin(), g.op->tensors.end(), [](const TensorSpec& t) { return t.role == Role::output; });
  if (!any) lacks(outputs, *g.op, *first);
  for (std::string& name : unused_in(outputs, *g.op, flags.ignored))
    if (std::find(g.unused.begin(), g.unused.end(), name) == g.unused.end()) g.unused.push_back(std::move(name));
  g.memory.insert(g.memory.end(), outputs.memory.begin(), outputs.memory.end());
  return g;
}

void require_flags_used(const GivenFlags& flags, const std::vector<std::string>& names) {
  const auto require = [&](std::string_view flag, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw BadInput(fmt::format("{}: nothing in the files has the name '{}'", flag, name));
  };
  for (const std::string& layout : flags.layouts) require("--layout", layout.substr(0, layout.find('=')));
  for (const std::string& name : flags.ignored) require("--ignore", name);
}

std::vector<Placement> places_of(const Given& g) {
  Case dense = g.c;
  dense.layout = "contiguous";
  return place(*g.op, dense);
}

std::unique_ptr<Problem> problem_of(const Given& g) {
  std::unique_ptr<Problem> problem = g.op->make();
  std::vector<std::byte*> images;
  for (std::size_t i = 0; i < g.tensors.size(); ++i)
    images.push_back(is_given(g.op->tensors[i]) ? g.tensors[i].as<std::byte>() : nullptr);
  attach(*problem, g.c, places_of(g), images);
  if (const Legality ok = problem->legal(); !ok) throw BadInput(ok.why);
  return problem;
}

TensorFile filled_tensors(const Op& op, const Case& c) {
  Case dense = c;
  dense.layout = "contiguous";
  const std::vector<Placement> at_home = place(op, dense), placements = place(op, c);
  double needed = 0;
  for (const Placement& p : at_home) needed += static_cast<double>(p.bytes);
  if (needed > static_cast<double>(available_memory()))
    throw NoMemory(fmt::format("the tensors have {:.0f} bytes, and {} of memory are free", needed, available_memory()));
  TensorFile file;
  std::vector<Tensor> tensors(op.tensors.size());
  file.metadata = {{kOpKey, std::string(op.name)}, {kCaseKey, repro(c, op.shape())}};
  for (const Attribute& a : op.attributes) file.metadata[std::string(a.name)] = text_of(a, attribute(c, a.name, a.standard));
  for (std::size_t i = 0; i < op.tensors.size(); ++i) {
    const Tensor& t = at_home[i].tensor;
    if (!is_given(op.tensors[i]) || t.rank == 0) continue;
    const auto image = std::make_shared<std::vector<std::byte>>(at_home[i].bytes + 1);  // Note: an empty one has an address too
    fill_image(op, dense, static_cast<int>(i), at_home[i], image->data(), {});
    tensors[i] = t;
    tensors[i].data = image->data();
    const std::string name(op.tensors[i].name);
    file.tensors.push_back({.name = name,
                            .dtype = std::string(assay::name(t.dtype)),
                            .known = t.dtype,
                            .shape = {t.shape.begin(), t.shape.begin() + t.rank},
                            .data = std::span(*image).first(at_home[i].bytes)});
    file.memory.push_back(image);
    if (const Placement& p = placements[i]; p.offset || !p.tensor.contiguous()) {
      file.metadata[name + kOffsetKey] = fmt::format("{}", p.offset);
      file.metadata[name + kStridesKey] =
          fmt::format("{}", fmt::join(p.tensor.stride.begin(), p.tensor.stride.begin() + t.rank, " "));
    }
  }
  file.metadata[kDigestKey] = digest_of(op, tensors);
  return file;
}

const Fill& fill_of(const Task& task) {
  static constexpr Fill kGiven{.name = kGivenFill, .shows = "", .coherent = true};
  return task.c.fill == kGivenFill ? kGiven : find_fill(*task.op, task.c.fill);
}

void make_image(const Task& task, std::size_t tensor, const Placement& p, std::byte* image) {
  if (!task.given) return fill_image(*task.op, task.c, static_cast<int>(tensor), p, image, {});
  const Tensor& from = task.given->tensors[tensor];
  Tensor to = p.tensor;
  to.data = image;
  if (!to.contiguous())
    for (const Island& i : islands(to, p.bytes)) std::memset(image + i.begin, std::to_integer<int>(kGapByte), i.bytes());
  const auto element = static_cast<std::size_t>(size_of(to.dtype));
  for (std::int64_t i = 0; i < to.size(); ++i)
    std::memcpy(image + static_cast<std::size_t>(to.offset(i)) * element,
                from.as<std::byte>() + static_cast<std::size_t>(i) * element, element);
  require_unchanged_files();
}

}  // namespace assay
