// SPDX-License-Identifier: Apache-2.0
// Three ops for tests of suites: layernorm_residual, which has an edge file of its own, and two that have none.
#pragma once

#include <vector>

#include "ops/layernorm_residual.hpp"
#include "validate/cases/op_shape.hpp"

namespace assay::test {

inline double zero(const FillSite&, std::int64_t) { return 0; }

inline const std::vector<OpShape>& ops() {
  static constexpr AxisUse kMatmul[] = {{Axis::tokens, 1}, {Axis::hidden, 1}, {Axis::out, 1}};
  static constexpr AxisUse kAttention[] = {{Axis::batch}, {Axis::seq_q},    {Axis::seq_k},
                                           {Axis::heads}, {Axis::kv_heads}, {Axis::head_dim}};
  static const std::vector<OpShape> all = [] {
    Fill signs{"probe_signs", "an inexact answer", false, zero};
    signs.applies = [](const Dims& d, DType) { return d[Axis::cols] % 2 == 0; };
    const Fill row{"probe_constant_row", "a variance of nothing", true, zero};
    const Fill fresh{"fresh", "the error of the norm itself", false, zero};
    const Fill opposite{"opposite_residual", "x + r taken for x", false, zero};
    const Fill gamma{"special_gamma", "an infinity clamped", false, zero};
    return std::vector<OpShape>{
        {"layernorm_residual", layernorm_residual::axes, {{"epsilon", 1e-5}}, {signs, row, opposite, fresh, gamma}},
        {"some_product", kMatmul, {}, {}},
        {"some_attention", kAttention, {{"scale", 0}, {"window", -1}, {"mask", 0, {"none", "causal"}}}, {}},
    };
  }();
  return all;
}

}  // namespace assay::test
