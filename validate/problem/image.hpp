// SPDX-License-Identifier: Apache-2.0
// Images: a case's tensors as bytes.  A tensor's image is the range of bytes from its first element to its last, with the gaps
// between rows; it starts `offset` bytes after a 256-byte boundary.
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

inline constexpr std::byte kGapByte{0xff};  // fills the gaps between rows: NaN in every dtype

struct Placement {
  Tensor tensor;           // shape, strides and dtype; data is null
  std::size_t offset = 0;  // distance of the first element from a 256-byte boundary
  std::size_t bytes = 0;   // size of the image
};

// The placement of every tensor of a case, in the order of the op's tensors.  Throws BadInput if the layout is unknown.
std::vector<Placement> place(const Op& op, const Case& c);

// Whether a tensor is present under the case's choices (TensorOptions::present_if).
bool present(const TensorSpec& spec, const Case& c);

// The index of the input whose memory output `index` shares in this case (in place); empty: the output has memory of its own.
std::optional<std::size_t> lies_over(const Op& op, const Case& c, std::size_t index);

// Fills the image of an input or of an updated output with the case's values, and its gaps with NaN (0xff).  Fills that of any
// other output with the byte `garbage`.
void fill_image(const Op& op, const Case& c, int tensor, const Placement& p, std::byte* image, std::byte garbage);

// Whether all elements of an image are finite; gaps between rows are ignored.
bool all_finite(const Tensor& t, const std::byte* image);

// Points the problem's tensors at images and sets its attributes.
void attach(Problem& problem, const Case& c, std::span<const Placement> placements, std::span<std::byte* const> images);

// The fill of that name, op-specific ones first; throws BadInput with the nearest known name.
const Fill& find_fill(const Op& op, std::string_view name);

// The extent of a kernel's tile along an axis; 1 if it declares none.
std::int64_t tile_along(const Kernel&, Axis, DType);
// Whether the kernel takes some axis of the case in several tiles with a ragged tail.
bool multi_tile_ragged(const Kernel& k, const Case& c);

}  // namespace assay
