// SPDX-License-Identifier: Apache-2.0
#include "validate/model/step_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace assay {

namespace {

// Bytes from the first element to behind the last.
std::size_t span_of(const Tensor& t) {
  return t.size() == 0 ? 0 : static_cast<std::size_t>((t.offset(t.size() - 1) + 1) * size_of(t.dtype));
}

}  // namespace

std::string element_text(std::string_view name, const Tensor& t, std::int64_t i) {
  std::vector<std::int64_t> at(static_cast<std::size_t>(t.rank));
  for (int a = t.rank - 1; a >= 0; --a) {
    at[static_cast<std::size_t>(a)] = i % t.shape[a];
    i /= t.shape[a];
  }
  return fmt::format("{}{}", name, shape_text(at));
}

Tensor StepJudge::copied(const Tensor& of) {
  Tensor t = of;
  t.data = memory_.emplace_back(span_of(of) + 1).data();
  machine_.read(t.data, of.data, span_of(of));
  return t;
}

void StepJudge::before(const Step& step, const Op& op, Problem& problem) {
  memory_.clear();
  problem_ = op.make();
  for (const auto& [name, value] : step.attributes) problem_->set_attribute(name, value);
  for (std::size_t k = 0; k < op.tensors.size(); ++k) {
    const Tensor& t = *problem.tensors()[k];
    if (t.rank == 0) continue;
    *problem_->tensors()[k] = is_given(op.tensors[k]) ? copied(t) : t;
    if (!is_given(op.tensors[k])) problem_->tensors()[k]->data = nullptr;
  }
}

void StepJudge::after(const Step& step, const Op& op, Problem& problem) {
  const Kernel& kernel = choice_.kernel(step, problem.args());
  if (const Legality ok = problem_->legal(); !ok)
    throw std::logic_error(fmt::format("step {} of {}: {}", step.name, op.name, ok.why));
  problem_->solve();
  const std::string name = fmt::format("{}/{}", kernel.op, kernel.name);
  KernelSteps& of_kernel = kernels_[name];
  ++of_kernel.steps;
  ++steps_;
  bool right = true;
  const auto tell = [&](WrongStep w) {
    right = false;
    w.pass = pass_;
    w.kernel = name;
    w.layer = step.layer;
    wrong_.push_back(std::move(w));
  };
  int output = 0;
  for (std::size_t k = 0; k < op.tensors.size(); ++k) {
    const TensorSpec& spec = op.tensors[k];
    const Tensor& had = *problem_->tensors()[k];
    if (had.rank == 0) continue;
    const Tensor got = copied(*problem.tensors()[k]);
    const std::string& is = step.part(spec.name)->name;
    if (spec.role != Role::output) {
      if (std::memcmp(got.data, had.data, span_of(had)) != 0)
        tell({.tensor = is, .side_effect = fmt::format("changed its input '{}'", spec.name)});
      continue;
    }
    const Comparison c = compare(*problem_, kernel.numerics, output++, got, false);
    of_kernel.margin = std::max(of_kernel.margin, c.margin);
    if (c.wrong > 0) tell({.tensor = is, .element = element_text(spec.name, got, c.worst), .c = c});
    if (stored) stored(step, is, got);
  }
  of_kernel.wrong += !right;
}

}  // namespace assay
