// SPDX-License-Identifier: Apache-2.0
// Layouts: alignment and strides of a case's tensors, each with the bug that it shows.
#pragma once

#include <array>
#include <string_view>

#include "ops/core/dtype.hpp"

namespace assay {

struct Layout {
  std::string_view name;
  std::string_view shows;  // the bug that it shows
  int offset_bytes = 0;    // distance of the first element from a 16-byte boundary
  bool padded = false;     // gaps between rows, filled with NaN: 3 elements, or at most 2 row_multiple bytes; if `own`, drawn
  int row_multiple = 0;    // starts and strides are multiples of this many bytes (but see `alone`); 0: of an element's size
  bool own = false;        // each tensor draws a start, a gap (perhaps none) for each outer axis, and an order of these axes
  bool twins = false;      // tensors of one shape and role, such as k and v, draw alike
  bool alone = false;      // one place is not aligned: the start of one tensor, or its rows behind an aligned start (image.cpp)
  bool far = false;        // rows lie 2^31 elements further apart, and only what is near them is backed by memory (islands.hpp)
};

inline constexpr std::array<Layout, 10> kLayouts{{
    {"contiguous", "arithmetic errors only"},
    {"offset2", "a vector load from a pointer 2 bytes off a 16-byte boundary", 2},
    {"offset4", "a vector load from a pointer 4 bytes off a 16-byte boundary", 4},
    {"padded", "a stride mistaken for the width, reads past the end of a row", 0, true},
    {"padded16", "the same as padded, with 16-byte aligned rows, which vector kernels accept", 0, true, 16},
    {"mixed", "a stride, an alignment or an order of axes taken from another tensor", 0, true, 0, true},
    {"mixed16", "the same as mixed, with 16-byte aligned rows, which vector kernels accept", 0, true, 16, true},
    {"twins", "the same as mixed, for kernels that want k and v alike", 0, true, 0, true, true},
    {"alone", "a kernel that checks the alignment of all starts or all strides but one", 0, true, 16, true, false, true},
    {"far", "an offset, an index or a stride kept in 32 bits", 0, true, 16, false, false, false, true},
}};

constexpr const Layout* find_layout(std::string_view name) {
  for (const Layout& l : kLayouts)
    if (l.name == name) return &l;
  return nullptr;
}

// Whether tensors of that dtype can have the layout: each element must lie at a multiple of its size.
constexpr bool applies(const Layout& l, DType t) { return l.offset_bytes % size_of(t) == 0; }

}  // namespace assay
