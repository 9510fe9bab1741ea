// SPDX-License-Identifier: Apache-2.0
// Solves an op by its formula, for tests of what it computes.
#pragma once

#include <initializer_list>
#include <span>

#include "catch_shim.hpp"
#include "ops/core/formula_answers.hpp"

namespace assay::test {

// Writes the first outputs, each row-major and whole.  Beside a sample of rows, others may be written that have the same place
// along an axis that the evaluator does not cut.
template <class Op>
void solve(const typename Op::Args& args, std::initializer_list<std::span<double>> outputs, const Rows& rows = {}) {
  REQUIRE(LinkedAnswers<Op>::make);
  LinkedAnswers<Op>::make(args, rows, {outputs.begin(), outputs.end()}, Need::values);
}

}  // namespace assay::test
