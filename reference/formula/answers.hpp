// SPDX-License-Identifier: Apache-2.0
// A case's golden and bounds by its formula, as the judge asks for them (ops/core/formula_answers.hpp).
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ops/core/formula_answers.hpp"
#include "reference/formula/evaluate.hpp"

namespace assay::formula {

// Elements of all arrays of a case together up to which its values are kept: about 64 MB with what belongs to them.
inline constexpr std::int64_t kMostKept = 1 << 20;

// The bound of an element that a kernel rounds to `output` last, of the error before that: f32 outputs of sums in f32 round no
// more, and what every kernel has exactly does not if the dtype holds it.
double rounded_last(DType output, DType accumulate, double value, double error);

// `inputs`: the graph's, in its order; they are read again where values are not kept, so they must stay as they are.  `storage`:
// the dtype of the tensors that share the case's.  `rows_of` is asked again too.  Writes the values of these rows to `values`, a
// span for each of the first outputs that are not empty.
std::unique_ptr<FormulaAnswers> answers_of(Graph graph, std::vector<Tensor> inputs, DType storage, RowsOf rows_of,
                                           std::span<const std::span<double>> values, Need need);

// Of one output: the values of a problem whose axis is one shorter, on the same tensors and with the same constants, written over
// the elements that both have.  Nothing is written where places along the axis are taken by a tensor.  `y`: all elements of the
// whole.
void answer_without_last(Graph graph, std::vector<Tensor> inputs, DType storage, std::string_view axis, std::span<double> y);

}  // namespace assay::formula
