// SPDX-License-Identifier: Apache-2.0
// A case: everything that decides what a kernel is given.  Its text form is the repro line:
//   layernorm_residual/warp_row f16 rows=3 cols=257 epsilon=1e-06 fill=large_mean_10 layout=offset2 seed=7
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/core/axes.hpp"
#include "ops/core/dtype.hpp"
#include "validate/cases/op_shape.hpp"

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
  // The axis that is longer than a grid's y and z: a slow backend leaves out kernels whose tile takes several of it at once.
  std::optional<Axis> blocks_along{};
};

// Whether somebody chose it: it is a dataset's, and no random or hand-typed one.
inline bool from_dataset(const Case& c) { return c.source.find('/') != std::string::npos; }

inline constexpr std::int64_t kMostExtent = std::int64_t{1} << 40;
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 46;

// The product of the extents: what a case costs, within a factor that belongs to the op.  kv_heads does not count
// beside heads, which it divides; of heads x head_dim and ffn the wider counts; pages count where they are more than the tables
// have entries.  More than kMostElements is reported as kMostElements + 1.
std::int64_t elements(const Case&, const OpShape&);

// The repro line; the kernel may be empty.  Axes and attributes come in the op's order.
std::string repro(const Case&, const OpShape&, std::string_view kernel = {});
// The part of it that says what is special: "rows=129 cols=4096 fill=ramp".
std::string summary(const Case&, const OpShape&);

struct Repro {
  Case what;
  std::string kernel;  // empty: none was named
};
// Reads a repro line.  Keys may come in any order; fill, layout, seed and attributes may be left out.  Throws BadInput.
Repro parse_repro(std::string_view text, std::span<const OpShape> ops);

// What must hold of every case, from a person or from a file: axes within their limits, fill and layout known and
// meaningful here.  Throws BadInput.
void check(const Case&, const OpShape&);

}  // namespace assay
