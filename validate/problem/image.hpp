// SPDX-License-Identifier: Apache-2.0
// Images: a case's tensors as bytes.  A tensor's image is the run of bytes from its first element to its
// last, the gaps between its rows included; an image starts `offset` bytes after a 256-byte boundary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "validate/cases/case.hpp"
#include "validate/problem/op.hpp"

namespace assay {

inline constexpr std::byte kGapByte{0xff};  // between the rows of what a fill makes: NaN

struct Placement {
  Tensor tensor;           // data is null: shape, strides and dtype only
  std::size_t offset = 0;  // of the first element from a 256-byte boundary
  std::size_t bytes = 0;   // of the image
};

// Where every tensor of a case lies; in the order of the op's tensors.  `layout` as in Case.
std::vector<Placement> place(const Op& op, const Case& c);

// The input, as a place among the op's tensors, that output `index` lies over in this case; none: it has memory of its own.
std::optional<std::size_t> lies_over(const Op& op, const Case& c, std::size_t index);

// Fills the image of an input, or of an updated output, with the case's values, gaps with NaN (0xff); of any other output, all
// bytes with `garbage`.
void fill_image(const Op& op, const Case& c, int tensor, const Placement& p, std::byte* image, std::byte garbage);

// Whether an image holds no NaN and no infinity, the gaps between its rows left aside.
bool all_finite(const Tensor& t, const std::byte* image);

// Points the problem's tensors at images and sets its attributes.
void attach(Problem& problem, const Case& c, std::span<const Placement> placements, std::span<std::byte* const> images);

// The fill of that name, op-specific ones first; throws BadInput with the nearest right name.
const Fill& find_fill(const Op& op, std::string_view name);

// The extent of a kernel's tile along an axis; 1 where it declares none.
std::int64_t tile_along(const Kernel&, Axis, DType);
// Whether the case has, on some axis, more than one of the kernel's tiles and a ragged last one.
bool multi_tile_ragged(const Kernel& k, const Case& c);

}  // namespace assay
