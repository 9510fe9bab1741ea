// SPDX-License-Identifier: Apache-2.0
// The named axes of tensors.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace assay {

// An axis, which its name identifies.  Many ops share those below.  An op may have its own, as a constant of its contract:
//   static constexpr Axis experts{"experts", "experts, of which each token asks a few", "expert"};
struct Axis {
  std::string_view name;
  std::string_view meaning{};
  std::string_view singular{}, plural{};  // one index of it, and several; empty: its name

  friend constexpr bool operator==(const Axis& a, const Axis& b) { return a.name == b.name; }
  friend constexpr auto operator<=>(const Axis& a, const Axis& b) { return a.name <=> b.name; }

  static const Axis batch, seq_q, seq_k, heads, kv_heads, head_dim, tokens, hidden, ffn, out, rows, cols, vocab, pages, page_size,
      max_pages;
  // No axis of any op: the shape of a tensor with a single value.
  static const Axis one;
};

inline constexpr Axis Axis::batch{"batch", "independent sequences", "batch", "batches"};
inline constexpr Axis Axis::seq_q{"seq_q", "query positions of one sequence", "query", "queries"};
inline constexpr Axis Axis::seq_k{"seq_k", "key positions of one sequence", "key", "keys"};
inline constexpr Axis Axis::heads{"heads", "query heads", "head", "heads"};
inline constexpr Axis Axis::kv_heads{"kv_heads", "key/value heads; heads is a multiple of it", "kv_head", "kv_heads"};
inline constexpr Axis Axis::head_dim{"head_dim", "channels of one head", "dim", "dims"};
inline constexpr Axis Axis::tokens{"tokens", "positions of all sequences together", "token", "tokens"};
inline constexpr Axis Axis::hidden{"hidden", "channels of the model's residual stream", "channel", "channels"};
inline constexpr Axis Axis::ffn{"ffn", "channels inside the feed-forward block", "ffn channel", "ffn channels"};
inline constexpr Axis Axis::out{"out", "output features of a projection", "out feature", "out features"};
inline constexpr Axis Axis::rows{"rows", "independent rows of a matrix", "row", "rows"};
inline constexpr Axis Axis::cols{"cols", "channels of one row", "col", "cols"};
inline constexpr Axis Axis::vocab{"vocab", "entries of the vocabulary", "class", "classes"};
inline constexpr Axis Axis::pages{"pages", "pages of a key/value pool", "page", "pages"};
inline constexpr Axis Axis::page_size{"page_size", "positions that a page holds", "position", "positions"};
inline constexpr Axis Axis::max_pages{"max_pages", "entries of a sequence's page table", "table entry", "table entries"};
inline constexpr Axis Axis::one{"1", "a single value", "value", "values"};

// Those that many ops share.
inline constexpr std::array<Axis, 16> kAxes{
    Axis::batch, Axis::seq_q, Axis::seq_k, Axis::heads, Axis::kv_heads, Axis::head_dim, Axis::tokens,    Axis::hidden,
    Axis::ffn,   Axis::out,   Axis::rows,  Axis::cols,  Axis::vocab,    Axis::pages,    Axis::page_size, Axis::max_pages};

// The extent of every axis of one case, by the axes' names; 0 if it has no such axis, 1 for Axis::one.
class Dims {
 public:
  static constexpr std::size_t kMost = 24;

  constexpr std::int64_t operator[](const Axis& axis) const {
    for (const Entry& e : entries())
      if (e.axis == axis.name) return e.extent;
    return axis == Axis::one ? 1 : 0;
  }
  // Of an axis that it has not yet: 0.
  constexpr std::int64_t& operator[](const Axis& axis) {
    for (std::size_t i = 0; i < count_; ++i)
      if (all_[i].axis == axis.name) return all_[i].extent;
    if (count_ == kMost) throw std::length_error("more axes than a case may have");
    all_[count_] = {axis.name, axis == Axis::one ? 1 : 0};
    return all_[count_++].extent;
  }

  struct Entry {
    std::string_view axis;
    std::int64_t extent = 0;
  };
  constexpr std::span<const Entry> entries() const { return {all_.data(), count_}; }

  // An axis of extent 0 is as one that is not there.
  friend constexpr bool operator==(const Dims& a, const Dims& b) { return a.within(b) && b.within(a); }

 private:
  constexpr bool within(const Dims& other) const {
    for (const Entry& e : entries())
      if (other[Axis{e.axis}] != e.extent) return false;
    return true;
  }
  std::array<Entry, kMost> all_{};
  std::size_t count_ = 0;
};

inline constexpr std::int64_t kMostExtent = std::int64_t{1} << 40;

// An axis of an op's contract, with the extents for which the formula is defined.
struct AxisUse {
  Axis axis;
  std::int64_t least = 1, most = kMostExtent;
  std::int64_t within(std::int64_t extent) const { return extent < least ? least : extent > most ? most : extent; }
};

// An extent of a tensor's shape: that of an axis, or (axis / divisor, rounded up) + more.
//   Axis::cols                        one for each
//   blocks(Axis::cols, 128)           one for each block of 128, the last of which may be shorter
//   Axis::batch + 1                   starts of sequences, and the last one's end
struct Extent {
  Axis axis;
  std::int64_t divisor = 1, more = 0;
  constexpr Extent(const Axis& a, std::int64_t divided_by = 1, std::int64_t plus = 0)
      : axis(a), divisor(divided_by), more(plus) {}
  constexpr bool is_axis() const { return divisor == 1 && more == 0; }
  constexpr std::int64_t of(std::int64_t extent_of_axis) const { return (extent_of_axis + divisor - 1) / divisor + more; }
  constexpr std::int64_t of(const Dims& dims) const { return of(dims[axis]); }
  constexpr bool operator==(const Extent&) const = default;
  // "cols", "cols/128", "batch+1": a formula's name of the axis of such a tensor.
  std::string text() const {
    return std::string(axis.name) + (divisor == 1 ? "" : "/" + std::to_string(divisor)) +
           (more ? "+" + std::to_string(more) : "");
  }
};
constexpr Extent blocks(const Axis& axis, std::int64_t size) { return {axis, size}; }
constexpr Extent operator+(const Extent& e, std::int64_t more) { return {e.axis, e.divisor, e.more + more}; }
constexpr Extent operator+(const Axis& axis, std::int64_t more) { return {axis, 1, more}; }

}  // namespace assay
