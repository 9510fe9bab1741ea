// SPDX-License-Identifier: Apache-2.0
// Inputs that another op computes, such as the O and L of attention that its backward pass takes.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

#include "validate/base/error.hpp"
#include "validate/problem/contents/contents.hpp"
#include "validate/problem/image.hpp"

namespace assay {

namespace {

bool is_output(const TensorSpec& t) { return t.options.holds.kind == Contents::Kind::output; }

// The problem of the other op: with the shapes of the tensors that both have, and the attributes, but no data.
class Another {
 public:
  Another(const Op& op, const Case& c) : op_(op), c_(c) {
    c_.layout = "contiguous";  // values do not depend on it
    placements_ = place(op_, c_);
    for (const TensorSpec& t : op_.tensors) {
      if (!is_output(t)) continue;
      const Contents& holds = t.options.holds;
      const auto fail = [&](std::string_view why) {
        throw BadInput(fmt::format("{}: '{}' holds {}, and {}.", op_.name, t.name, text_of(holds), why));
      };
      if (other_ && other_->name != holds.op) fail("another tensor holds an output of another op");
      other_ = find_op(holds.op);
      if (!other_) fail(is_left_out(holds.op) ? "this program was built without that op (ASSAY_ONLY)" : "there is no such op");
      if (tensor_index(*other_, holds.tensor) == other_->tensors.size()) fail("that op has no such tensor");
    }
    problem_ = other_->make();
    for (std::size_t i = 0; i < op_.tensors.size(); ++i) {
      if (in_other(i) == other_->tensors.size()) continue;
      Tensor& t = *problem_->tensors()[in_other(i)];
      t = placements_[i].tensor;
      t.data = nullptr;
    }
    for (const auto& [name, value] : c_.attributes) problem_->set_attribute(name, value);
  }

  double memory() {
    double bytes = 0;
    for (std::size_t i = 0; i < op_.tensors.size(); ++i)
      bytes += is_input(i)                 ? static_cast<double>(placements_[i].bytes)
               : is_output(op_.tensors[i]) ? 8 * static_cast<double>(placements_[i].tensor.size())
                                           : 0;
    const auto first = std::ranges::find(other_->tensors, Role::output, &TensorSpec::role);
    const Tensor& y = *problem_->tensors()[static_cast<std::size_t>(first - other_->tensors.begin())];
    const SolveMemory golden = problem_->memory({.total = y.size() / std::max<std::int64_t>(1, y.shape[y.rank - 1])}, false);
    return bytes + golden.kept + golden.passing;
  }

  // The values of each of these tensors, empty for others.
  std::vector<std::vector<double>> solve() {
    std::vector<std::vector<std::byte>> images;
    for (std::size_t i = 0; i < op_.tensors.size(); ++i) {
      if (!is_input(i)) continue;
      images.emplace_back(placements_[i].bytes + 1);
      fill_image(op_, c_, static_cast<int>(i), placements_[i], images.back().data(), {});
      problem_->tensors()[in_other(i)]->data = images.back().data();
    }
    problem_->solve({}, Need::values);
    std::vector<std::vector<double>> values(op_.tensors.size());
    for (std::size_t i = 0; i < op_.tensors.size(); ++i) {
      if (!is_output(op_.tensors[i])) continue;
      const auto until = other_->tensors.begin() + static_cast<std::ptrdiff_t>(in_other(i));
      const auto golden = problem_->golden(static_cast<int>(
          std::count_if(other_->tensors.begin(), until, [](const TensorSpec& t) { return t.role == Role::output; })));
      values[i].assign(golden.begin(), golden.end());
    }
    return values;
  }

 private:
  // Its number among the other op's; their number if it has none of that name.  An output goes by the name that the contract
  // says.
  std::size_t in_other(std::size_t i) const {
    const TensorSpec& t = op_.tensors[i];
    return is_given(t) ? tensor_index(*other_, is_output(t) ? t.options.holds.tensor : t.name) : other_->tensors.size();
  }
  bool is_input(std::size_t i) const {
    return !is_output(op_.tensors[i]) && in_other(i) < other_->tensors.size() && placements_[i].tensor.rank > 0;
  }

  const Op& op_;
  Case c_;
  std::vector<Placement> placements_;
  const Op* other_ = nullptr;
  std::unique_ptr<Problem> problem_;
};

}  // namespace

double memory_of_another(const Op& op, const Case& c) {
  return std::ranges::any_of(op.tensors, is_output) ? Another(op, c).memory() : 0;
}

// Note: all come from one golden, which is kept until the last of them was asked for.
std::vector<double> output_of_another(const Op& op, const Case& c, std::string_view tensor) {
  static std::mutex mutex;
  static std::pair<std::string, std::vector<std::vector<double>>> last;  // of a case's repro line
  const std::lock_guard lock(mutex);
  if (std::string of = repro(c, op.shape()); last.first != of) {
    last = {};
    last = {std::move(of), Another(op, c).solve()};
  }
  const std::size_t at = tensor_index(op, tensor);
  std::vector<double> values = std::move(last.second[at]);
  if (std::ranges::all_of(last.second, &std::vector<double>::empty)) last = {};
  return values;
}

}  // namespace assay
