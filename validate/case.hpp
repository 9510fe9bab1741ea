// SPDX-License-Identifier: Apache-2.0
// A case: everything that decides what a kernel is given.  Its text form is the repro line:
//   layernorm_residual/warp_row f16 rows=3 cols=257 epsilon=1e-06 fill=large_mean layout=offset2 seed=7
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ops/core/axes.hpp"
#include "ops/core/dtype.hpp"

namespace assay {

struct Case {
  std::string op;
  DType dtype = DType::f32;
  Dims dims;
  std::map<std::string, double> attributes;  // those that are not at their default
  std::string fill = "normal";
  std::string layout = "contiguous";
  std::uint64_t seed = 0;

  // Where it comes from and what was taken off: not part of the repro line.
  std::string source;  // "edges/common", "models/gpt2-124m", "random"
  struct Reduction {
    Axis axis;
    std::int64_t from, to;
  };
  std::vector<Reduction> reduced;  // axes made shorter for a slow backend
};

}  // namespace assay
