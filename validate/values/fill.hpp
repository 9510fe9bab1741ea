// SPDX-License-Identifier: Apache-2.0
// Fills: what the numbers in a case's tensors are, and which bug each fill shows.
// Everything is integer arithmetic and exactly rounded f64 operations on a counter: the same bits on every machine.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/core/axes.hpp"
#include "ops/core/dtype.hpp"

namespace assay {

enum class Role { input, weight, output };

// Where one value goes.
struct FillSite {
  const Dims& dims;
  DType dtype;
  std::string_view tensor;
  int tensor_index;  // its place among the op's tensors
  Role role;
  std::span<const std::int64_t> shape;
  std::uint64_t seed;
  std::int64_t places = 0;                                    // of integers that are places on an axis: its extent
  const std::map<std::string, double>* attributes = nullptr;  // as Case::attributes
};

struct Fill {
  std::string_view name;
  std::string_view shows;  // the bug it shows, one clause
  bool coherent = false;   // rounding errors may all go one way (ties, constants, all positive)
  // The value of element i (row-major), before it is rounded to the dtype.
  double (*value)(const FillSite&, std::int64_t i) = nullptr;
  // Element i of a tensor of integers; none: the op's (Hooks::integer), which without one are places drawn evenly.
  std::int64_t (*integer)(const FillSite&, std::int64_t i) = nullptr;
  // Whether every right answer is exactly representable here, so that any difference is a bug; none: never.
  bool (*exact)(const Dims&, DType) = nullptr;
  // Whether the fill means anything here; none: always.
  bool (*applies)(const Dims&, DType) = nullptr;
  // Rows are independent draws, symmetric about zero: their errors may be judged together (aggregate.hpp).
  bool scattered = false;
};

}  // namespace assay
