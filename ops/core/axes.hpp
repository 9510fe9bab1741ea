// SPDX-License-Identifier: Apache-2.0
// The named axes of tensors, shared by all ops.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace assay {

// `one` is not an axis of any op; it is the shape of a tensor with a single value.
enum class Axis : std::uint8_t {
  batch,
  seq_q,
  seq_k,
  heads,
  kv_heads,
  head_dim,
  tokens,
  hidden,
  ffn,
  out,
  rows,
  cols,
  vocab,
  pages,
  page_size,
  max_pages,
  one
};

struct AxisInfo {
  std::string_view name;
  std::string_view meaning;
};

inline constexpr std::array<AxisInfo, 16> kAxes{{
    {"batch", "independent sequences"},
    {"seq_q", "query positions of one sequence"},
    {"seq_k", "key positions of one sequence"},
    {"heads", "query heads"},
    {"kv_heads", "key/value heads; heads is a multiple of it"},
    {"head_dim", "channels of one head"},
    {"tokens", "positions of all sequences together"},
    {"hidden", "channels of the model's residual stream"},
    {"ffn", "channels inside the feed-forward block"},
    {"out", "output features of a projection"},
    {"rows", "independent rows of a matrix"},
    {"cols", "channels of one row"},
    {"vocab", "entries of the vocabulary"},
    {"pages", "pages of a key/value pool"},
    {"page_size", "positions that a page holds"},
    {"max_pages", "entries of a sequence's page table"},
}};

constexpr std::string_view name(Axis a) { return a == Axis::one ? "1" : kAxes[static_cast<std::size_t>(a)].name; }

// The extent of every axis of one case; 0 if the op has no such axis, 1 for Axis::one.
struct Dims {
  std::array<std::int64_t, kAxes.size() + 1> extent = [] {
    std::array<std::int64_t, kAxes.size() + 1> none{};
    none.back() = 1;
    return none;
  }();
  constexpr std::int64_t operator[](Axis a) const { return extent[static_cast<std::size_t>(a)]; }
  constexpr std::int64_t& operator[](Axis a) { return extent[static_cast<std::size_t>(a)]; }
  constexpr bool operator==(const Dims&) const = default;
};

// An axis of an op's contract, with the least extent for which the formula is defined.
struct AxisUse {
  Axis axis;
  std::int64_t least = 1;
};

}  // namespace assay
