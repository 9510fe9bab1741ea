// SPDX-License-Identifier: Apache-2.0
// Ops as steps of something larger, by their formulas, with f64 tensors between them, so that nothing is rounded.
#pragma once

#include <initializer_list>
#include <span>
#include <stdexcept>

#include "ops/add.hpp"
#include "ops/attention_forward.hpp"
#include "ops/core/formula_answers.hpp"
#include "ops/embedding.hpp"
#include "ops/gelu_linear.hpp"
#include "ops/gemm_swiglu.hpp"
#include "ops/layernorm.hpp"
#include "ops/linear.hpp"
#include "ops/rmsnorm.hpp"
#include "ops/rope.hpp"

namespace assay::reference {

// Writes the first outputs of an op, which have these many rows.
template <class Op>
void solve_as(const typename Op::Args& args, std::initializer_list<std::span<double>> to, std::int64_t rows) {
  if (!LinkedAnswers<Op>::make) throw std::logic_error("this program was built without the op of a step (ASSAY_ONLY)");
  LinkedAnswers<Op>::make(args, {.total = rows}, {to.begin(), to.end()}, Need::values);
}

}  // namespace assay::reference
