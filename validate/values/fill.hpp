// SPDX-License-Identifier: Apache-2.0
// Fills: generators of the values in a case's tensors, each named with the bug that it shows.  They use integer arithmetic and
// exactly rounded f64 operations on a counter, so values have the same bits on every machine.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/core/axes.hpp"
#include "ops/core/contents.hpp"
#include "ops/core/dtype.hpp"

namespace assay {

enum class Role { input, weight, output };

// The tensor and case for which a value is made.
struct FillSite {
  const Dims& dims;
  DType dtype;
  std::string_view tensor;
  int tensor_index;  // index among the op's tensors
  Role role;
  std::span<const std::int64_t> shape;
  std::uint64_t seed;
  const Contents* holds = nullptr;                            // what its elements are
  const std::map<std::string, double>* attributes = nullptr;  // Case::attributes
};

// By how much values are larger in a dtype of small whole numbers, so that they take many of its codes.
constexpr double whole_numbers_scale(DType t) { return !is_float(t) && !is_index(t) ? 32 : 1; }

struct Case;  // cases/case.hpp

struct Fill {
  std::string_view name;
  std::string_view shows;  // the bug it shows, one clause
  bool coherent = false;   // rounding errors may all have one sign (ties, constants, all positive)
  // The value of element i (row-major), before it is rounded to the dtype.
  double (*value)(const FillSite&, std::int64_t i) = nullptr;
  // Element i of a tensor of integers that holds what `of` says (of lengths and pages: pages), only of the one named `in` if one
  // is.  Null, and of others: as in other fills (validate/problem/contents).
  std::int64_t (*integer)(const FillSite&, std::int64_t i) = nullptr;
  Contents::Kind of = Contents::Kind::any;
  std::string_view in{};
  // Whether every correct result is exactly representable, so that any difference is a bug; null: never.
  bool (*exact)(const Dims&, DType) = nullptr;
  // Whether a case's attributes are those with which it is exact; null: any are.  Otherwise the bound judges it.
  bool (*exact_with)(const Case&) = nullptr;
  // Whether the fill makes sense for these extents and dtype; null: always.
  bool (*applies)(const Dims&, DType) = nullptr;
  // Each row is drawn independently, and is as likely as its negative.  A row may hold an outlier, if its sign is drawn too.  So
  // errors of different rows are independent and of either sign, and aggregate checks over rows apply (aggregate.hpp).
  bool scattered = false;
};

}  // namespace assay
