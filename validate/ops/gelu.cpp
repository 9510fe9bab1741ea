// SPDX-License-Identifier: Apache-2.0
// Judge hooks of gelu: exact probes, fills, the second oracle, relations.
#include "ops/gelu.hpp"

#include "validate/ops/activation_oracle.hpp"
#include "validate/ops/elementwise_fills.hpp"
#include "validate/ops/row_relations.hpp"
#include "validate/problem/op.hpp"

namespace assay {

namespace {

void oracle(const void* args, const Numerics& numerics, Roundings roundings, std::span<double> y) {
  const auto& a = *static_cast<const gelu::Args*>(args);
  const gemm_oracle::Rounding r(numerics, roundings, a.x.dtype);
  for (std::size_t i = 0; i < y.size(); ++i)
    y[i] = gemm_oracle::activate(r, numerics.cancelling_gelu, a.form, r.factor(a.x.at(static_cast<std::int64_t>(i))));
}

}  // namespace

static Hooks hooks() {
  using namespace elementwise_fills;
  using namespace row_relations;
  return {
      .fills = {{.name = "probe_saturated", .shows = "a wrong index, a lost sign; exact", .value = saturated, .exact = always},
                kBends},
      .oracle = oracle,
      .relations = {kRowsPermuted, kFirstRows, kColsPermuted}};
}

static const LinkedHooks<gelu> linked(hooks);

}  // namespace assay
