// SPDX-License-Identifier: Apache-2.0
// For attention kernels: tiles of a head's 16-bit rows in shared memory, their loading by cp.async, and the order in which blocks
// take tiles.
#pragma once

#include "cuda/core/kernel.cuh"

namespace assay::ASSAY_FLAVOUR::head_tile {

inline constexpr int kAccess = 16, kChunk = 8;  // bytes and elements of a chunk: what a cp.async copies; a row of ldmatrix

// The layout of a tile in shared memory: rows of kDim channels, at multiples of 128 bytes.  A chunk's number is XORed with its
// row's, so that the eight rows that ldmatrix reads at once cover all 32 banks.
template <int kDim>
struct Rows128 {
  static constexpr int kPitch = (kDim + 63) / 64 * 64, kChunks = kDim / kChunk;
  __device__ static int place(int row, int chunk) { return row * kPitch + (chunk & ~7) * kChunk + ((chunk ^ row) & 7) * kChunk; }
  // place(row + more, chunk) for a constant `more`.  The multiple of 8 rows in it becomes a constant offset.
  __device__ static int place(int row, int more, int chunk) { return place(row + more % 8, chunk) + more / 8 * 8 * kPitch; }
};

// Returns v through a shuffle, so that the compiler does not hoist what is computed from it.  Note: otherwise it computes the
// addresses of all fragments before the loop over tiles, and spills a hundred registers to keep them.
__device__ inline int fresh(int v) { return shuffle(v, lane_id()); }

// Returns nonzero if one of the two 16-bit values of a word has an exponent of all ones, so is NaN or infinite.
template <class T>
__device__ inline unsigned exponent_carry(unsigned word) {
  constexpr unsigned kExponents = std::is_same_v<T, half> ? 0x7c007c00u : 0x7f807f80u;
  constexpr unsigned kOne = std::is_same_v<T, half> ? 0x04000400u : 0x00800080u;
  return ((word & kExponents) + kOne) & 0x80008000u;
}

// Loads tiles.  Each thread of a block takes one chunk of every kRowsApart-th row.
template <class T, int kDim, int kThreads>
struct Loader {
  using Tile = Rows128<kDim>;
  static constexpr int kChunks = Tile::kChunks;
  static constexpr int kLanes = kChunks <= 4 ? 4 : kChunks <= 8 ? 8 : kChunks <= 16 ? 16 : 32;  // threads a row
  static constexpr int kRowsApart = kThreads / kLanes;
  int dim;
  bool wide;  // every row starts at a multiple of 16 bytes

  // Loads rows [first, first + kRows) of one head; those from `rows` on become zeros.  Chunks beyond `dim` are left alone.
  template <int kRows>
  __device__ void load(T* tile, const T* data, std::int64_t stride, int first, int rows) const {
    const int thread = fresh(linear_thread()), row = thread / kLanes, chunk = thread % kLanes;
    const int left = dim - chunk * kChunk;  // channels from here on
    if (left <= 0) return;
    const T* from = data + (first + row) * stride + chunk * kChunk;
    const std::int64_t step = kRowsApart * stride;
    if (wide && left >= kChunk && first + kRows <= rows) {
#pragma unroll
      for (int r = 0; r < kRows; r += kRowsApart, from += step) cp_async<kAccess>(tile + Tile::place(row, r, chunk), from);
      return;
    }
#pragma unroll 1
    for (int r = 0; r < kRows; r += kRowsApart, from += step) {
      T* const to = tile + Tile::place(row + r, chunk);
      const bool there = first + row + r < rows;
      if (wide) {
        cp_async<kAccess>(to, there ? from : data, !there ? 0 : left >= kChunk ? kAccess : left * 2);
      } else {
        Vec<T, kChunk> values{};
        for (int j = 0; j < kChunk; ++j)
          if (there && j < left) values[j] = ld(from + j);
        st(reinterpret_cast<Vec<T, kChunk>*>(to), values);
      }
    }
  }
  // Zeroes the chunks beyond `dim` of `rows` rows, which load() leaves alone.
  __device__ void clear(T* tile, int rows) const {
    const int row = linear_thread() / kLanes, chunk = linear_thread() % kLanes;
    if (chunk * kChunk < dim || chunk >= kChunks) return;
    for (int r = row; r < rows; r += kRowsApart)
      st(reinterpret_cast<Vec<T, kChunk>*>(tile + Tile::place(r, chunk)), Vec<T, kChunk>{});
  }
  // Whether the chunks that this thread has loaded hold a NaN or an infinity.
  template <int kRows>
  __device__ bool special(const T* tile) const {
    const int thread = fresh(linear_thread()), row = thread / kLanes, chunk = thread % kLanes;
    unsigned carried = 0;
#pragma unroll 1
    for (int r = 0; r < kRows && chunk < kChunks; r += kRowsApart) {
      const auto words = ld(reinterpret_cast<const Vec<unsigned, 4>*>(tile + Tile::place(row + r, chunk)));
      for (const unsigned word : words.v) carried |= exponent_carry<T>(word);
    }
    return carried != 0;
  }
};

// Divides n by d, for 0 <= n < 2^31 and d > 0, with a multiplication: n m / 2^(31 + l), where l = ceil(log2 d) and m = ceil(2^(31
// + l) / d) (Granlund and Montgomery 1994, theorem 4.2).
struct Divisor {
  int d = 1, shift = 31;
  unsigned m = 1u << 31;
  Divisor() = default;
  explicit Divisor(std::int64_t by) : d(static_cast<int>(by)) {
    while ((std::int64_t{1} << (shift - 31)) < d) ++shift;
    m = static_cast<unsigned>((std::uint64_t{1} << shift) / static_cast<unsigned>(d) + ((d & (d - 1)) != 0));
  }
  __device__ int of(int n) const { return static_cast<int>(static_cast<std::uint64_t>(static_cast<unsigned>(n)) * m >> shift); }
};

// The order in which blocks take tiles.  Heads go in groups whose shared operands fit the L2 cache.  In a group the tiles of rank
// 0 of all heads come first, then those of rank 1.  Rank 0 must take the longest, so that the last tiles are short.  The groups
// are as even as may be: a small last one would start long tiles at the end.
struct Schedule {
  int tiles, heads;                  // tiles of a head; heads of all sequences
  Divisor of_group, together, left;  // by the tiles of a group, the heads in it, those in the last one
  Divisor of_batch = {};             // by the heads of a sequence, for query_tile()
  __device__ int last_group() const { return of_group.of(tiles * heads - 1); }
};
struct Work {
  int rank, head, group;
};
__device__ inline Work work_of(const Schedule& s, int block) {
  const int group = s.of_group.of(block), rest = block - group * s.of_group.d, first = group * s.together.d;
  const bool last = s.heads - first <= s.together.d;
  const int rank = last ? s.left.of(rest) : s.together.of(rest);
  return {rank, first + rest - rank * (last ? s.left.d : s.together.d), group};
}
inline constexpr int kTogetherBytes = 24 << 20;  // half of an H200's L2: operands of heads that are together
// `bytes`: the size of the operands that all tiles of a head read; 0: all heads are together; INFINITY: one head after the other.
inline Schedule schedule(std::int64_t tiles, std::int64_t heads, double bytes) {
  const double most = std::min<double>(static_cast<double>(heads), static_cast<double>((1 << 30) / tiles));
  const auto fit = static_cast<std::int64_t>(std::clamp<double>(kTogetherBytes / bytes, 1.0, most));
  const std::int64_t groups = ceil_div(heads, fit), together = ceil_div(heads, groups);
  return {static_cast<int>(tiles), static_cast<int>(heads), Divisor(tiles * together), Divisor(together),
          Divisor(heads - (groups - 1) * together)};
}

// Calls f(std::integral_constant<int, D>{}) with the least compiled head_dim D >= dim.
template <class F>
void with_dim(std::int64_t dim, F&& f) {
  if (dim <= 32) return f(std::integral_constant<int, 32>{});
  if (dim <= 64) return f(std::integral_constant<int, 64>{});
  if (dim <= 96) return f(std::integral_constant<int, 96>{});
  if (dim <= 128) return f(std::integral_constant<int, 128>{});
  if (dim <= 192) return f(std::integral_constant<int, 192>{});
  return f(std::integral_constant<int, 256>{});
}

}  // namespace assay::ASSAY_FLAVOUR::head_tile
