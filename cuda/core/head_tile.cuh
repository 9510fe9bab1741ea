// SPDX-License-Identifier: Apache-2.0
// Tiles of a head's 16-bit rows in shared memory, how the threads of a block bring them there by cp.async, and the order in which
// blocks take tiles.
#pragma once

#include "cuda/core/kernel.cuh"

namespace assay::ASSAY_FLAVOUR::head_tile {

inline constexpr int kAccess = 16, kChunk = 8;  // bytes and 16-bit elements of a chunk: what cp.async and a lane of ldmatrix move

// A tile in shared memory: rows of kDim channels, at a multiple of 128 bytes, whose chunks lie crosswise, so that the eight
// rows that ldmatrix takes at once meet all 32 banks.
template <int kDim>
struct Rows128 {
  static constexpr int kPitch = (kDim + 63) / 64 * 64, kChunks = kDim / kChunk;
  __device__ static int place(int row, int chunk) {
    return row * kPitch + (chunk & ~7) * kChunk + ((chunk ^ row) & 7) * kChunk;
  }
  // The same for row + more, `more` a constant: a multiple of 8 rows further on lies alike.
  __device__ static int place(int row, int more, int chunk) { return place(row + more % 8, chunk) + more / 8 * 8 * kPitch; }
};

// A number that the compiler does not know: it has been through a shuffle.  Note: the addresses of all fragments follow from
// the lane, and would be worked out before the loop over tiles and a hundred registers spilled to keep them.
__device__ inline int fresh(int v) { return shuffle(v, lane_id()); }

// Not zero: one of the two 16-bit values of a word has an exponent of all ones, so it is NaN or infinite.
template <class T>
__device__ inline unsigned exponent_carry(unsigned word) {
  constexpr unsigned kExponents = std::is_same_v<T, half> ? 0x7c007c00u : 0x7f807f80u;
  constexpr unsigned kOne = std::is_same_v<T, half> ? 0x04000400u : 0x00800080u;
  return ((word & kExponents) + kOne) & 0x80008000u;
}

// What a thread brings of a tile: chunk `chunk` of every kRowsApart-th row.
template <class T, int kDim, int kThreads>
struct Loader {
  using Tile = Rows128<kDim>;
  static constexpr int kChunks = Tile::kChunks;
  static constexpr int kLanes = kChunks <= 4 ? 4 : kChunks <= 8 ? 8 : kChunks <= 16 ? 16 : 32;  // of a row
  static constexpr int kRowsApart = kThreads / kLanes;
  int dim;
  bool wide;  // every row starts at a multiple of 16 bytes

  // Rows [first, first + kRows) of one head; those from `rows` on are zeros.  Chunks beyond `dim` are left alone.
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
  // Zeros in the chunks beyond `dim` of `rows` rows, which loads leave alone.
  __device__ void clear(T* tile, int rows) const {
    const int row = linear_thread() / kLanes, chunk = linear_thread() % kLanes;
    if (chunk * kChunk < dim || chunk >= kChunks) return;
    for (int r = row; r < rows; r += kRowsApart)
      st(reinterpret_cast<Vec<T, kChunk>*>(tile + Tile::place(r, chunk)), Vec<T, kChunk>{});
  }
  // Whether what this thread brought holds a NaN or an infinity.
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

// Which tile a block takes.  Heads go in groups whose other operands the L2 cache holds; in a group every head's tile of rank 0
// comes first: the longest one, so that the short ones fill the end.
struct Schedule {
  int tiles, heads, together;  // tiles of a head; heads of all sequences; heads in a group
};
struct Work {
  int rank, head;
};
__device__ inline Work work_of(const Schedule& s, int block) {
  const int group = block / (s.tiles * s.together), rest = block % (s.tiles * s.together);
  const int first = group * s.together, count = s.heads - first < s.together ? s.heads - first : s.together;
  return {rest / count, first + rest % count};
}
// `bytes`: of what all tiles of a head read.
inline Schedule schedule(std::int64_t tiles, std::int64_t heads, double bytes) {
  constexpr double kBytes = 24 << 20;  // half of an H200's L2
  const double most = std::min<double>(static_cast<double>(heads), static_cast<double>((1 << 30) / tiles));
  return {static_cast<int>(tiles), static_cast<int>(heads), static_cast<int>(std::clamp<double>(kBytes / bytes, 1.0, most))};
}

// Calls f(std::integral_constant<int, D>{}) with the least head_dim that is built and holds `dim`.
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
