// SPDX-License-Identifier: Apache-2.0
// What the tests of relations share: small cases, and what is said of two played runs.
#pragma once
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "validate/judge/relation_check.hpp"
#include "validate/problem/op.hpp"
#include "validate/problem/relations.hpp"
#include "validate/tests/played.hpp"

namespace assay::test {

inline Case small_case(const Op& op, DType dtype) {
  Case c;
  c.op = op.name;
  c.dtype = dtype;
  c.seed = 5;
  std::int64_t extent = 5;
  for (const AxisUse& use : op.axes) c.dims[use.axis] = extent++;
  if (c.dims[Axis::kv_heads]) {
    c.dims[Axis::kv_heads] = 3;
    c.dims[Axis::heads] = op.name == "kv_append" ? 0 : 6;
  }
  return c;
}

inline std::int64_t largest(const Tensor& t) {
  std::int64_t at = 0;
  for (std::int64_t i = 1; i < t.size(); ++i)
    if (std::fabs(t.at(i)) > std::fabs(t.at(at)) || !std::isfinite(t.at(at))) at = i;
  return at;
}

inline std::string judged(const Played& original, const Played& other, const Relation& r, const Kernel& kernel) {
  return judge_relation(original.op, kernel, r, original.c, *original.problem, original.packing, original.inputs.data(),
                        original.outputs.data(), other.outputs.data());
}
inline std::optional<Related> related_to(const Played& p, const Relation& r) {
  return relate(p.op, p.c, r, p.packing, p.inputs.data(), p.outputs.data());
}

}  // namespace assay::test
