// SPDX-License-Identifier: Apache-2.0
// A case: everything that determines a kernel's inputs.  Its text form is the repro line:
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

  // From here on: not part of the repro line.
  std::string source;  // origin: "edges/linear", "models/gpt2-124m"; of drawn cases "combined", "random"
  struct Reduction {
    std::string axis;
    std::int64_t from, to;
  };
  std::vector<Reduction> reduced;  // axes shortened for a slow backend
  // An axis with more indices than gridDim.y or z allows (65,535).  The case tests kernels that launch a block for each index.
  // On a slow backend, kernels whose tile spans several indices are not judged on it: their grids are smaller than that.
  std::optional<Axis> blocks_along{};
};

inline double attribute(const Case& c, std::string_view name, double standard = 0) {
  const auto at = c.attributes.find(std::string(name));
  return at == c.attributes.end() ? standard : at->second;
}

// Whether a repro line can have it as a key: small letters, digits and _, a letter first.
bool is_line_key(std::string_view text);

// Whether the case is from a dataset, not random or typed by hand.
inline bool from_dataset(const Case& c) { return c.source.find('/') != std::string::npos; }
inline constexpr std::string_view kCommonSource = "edges/common";

inline constexpr std::int64_t kMostElements = std::int64_t{1} << 46;

// An estimate of the case's cost, up to a factor of the op: the product of the extents, 0 if one is 0, kMostElements + 1 if it is
// above kMostElements.  It leaves out kv_heads if the op has heads, the smaller of heads x head_dim and ffn if it has both, and
// pages, but multiplies by pages / (batch x max_pages), rounded up, where that is more than 1.
std::int64_t elements(const Case&, const OpShape&);

// The repro line; `kernel` may be empty.  Axes and attributes are in the op's order.
std::string repro(const Case&, const OpShape&, std::string_view kernel = {});
// Extents and non-default settings only: "rows=129 cols=4096 fill=ramp".
// What the case's layout and fill are for, where they are not the plain ones: "layout=far shows an offset, an index or a stride
// kept in 32 bits"; empty: they are.
std::string shown_by(const Case& c, const OpShape& op);
std::string summary(const Case&, const OpShape&);

struct Repro {
  Case what;
  std::string kernel;  // empty: no kernel given
  std::string judge;   // the first digits of the version of the judge that printed the line; empty: none given
};
// Parses a repro line.  Keys may be in any order; fill, layout, seed, judge and attributes are optional.  Throws BadInput.
Repro parse_repro(std::string_view text, std::span<const OpShape> ops);

// Checks a case from any source: axes within their limits, fill and layout known and applicable.  Throws BadInput.
void check(const Case&, const OpShape&);

// Whether each axis has an extent for which the op is defined.
bool within(const Dims&, std::span<const AxisUse>);

// Whether a case is one of the op's: such extents, heads a multiple of kv_heads, a fill and a layout that apply.  Throws
// BadInput, naming the case's source, if it is not well-formed.
bool admits(const Case&, const OpShape&);

}  // namespace assay
