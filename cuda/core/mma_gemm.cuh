// SPDX-License-Identifier: Apache-2.0
// The main loop of a matrix product on tensor cores: a tile of C = A B^T, A [m, k] and B [n, k], both with k innermost, f32
// accumulators in registers.  mma.m16n8k16 fed by ldmatrix from swizzled shared memory, which cp.async fills kStages - 1
// steps ahead; one barrier a step.  Rows and k beyond the ends are zeros.  Works for any extents; kWide needs every row to
// start at a multiple of 16 bytes, else elements are moved one by one.
#pragma once

#include "cuda/core/kernel.cuh"

namespace assay::ASSAY_FLAVOUR::mma_gemm {

// 2 x 2 warps, each with 64 x 64 of C: 128 accumulators a thread; 8 ldmatrix.x4 feed 32 mma.
inline constexpr int kM = 128, kN = 128, kK = 64, kStages = 3;
inline constexpr int kWarpM = 64, kWarpN = 64, kThreads = kM / kWarpM * (kN / kWarpN) * kWarp, kBlocksAnSm = 2;
inline constexpr int kTilesM = kWarpM / 16, kTilesN = kWarpN / 8;
inline constexpr int kAccess = 16;  // bytes of a chunk: what one cp.async or one lane of ldmatrix moves
inline constexpr int kChunk = kAccess / 2, kChunks = kK / kChunk;  // elements of a chunk; chunks of a tile's row
inline constexpr int kRowsAtOnce = kThreads / kChunks;             // tile rows that the block loads side by side
inline constexpr int kStageElements = (kM + kN) * kK;
inline constexpr std::size_t kSharedBytes = std::size_t{kStages} * kStageElements * 2;

static_assert(kChunks == 4 || kChunks == 8, "the swizzle is for rows of 64 or 128 bytes");
static_assert(kM % kRowsAtOnce == 0 && kN % kRowsAtOnce == 0);

// Where a chunk lies in a tile: swizzled, so that the eight rows that ldmatrix reads at once cover all 32 banks.
__device__ inline int swizzled(int row, int chunk) {
  return row * kK + (chunk ^ (kChunks == 4 ? row >> 1 & 3 : row & 7)) * kChunk;
}

// A matrix of `rows` rows; the tile takes those from `first` on.
template <class T>
struct Operand {
  const T* data;
  std::int64_t stride;  // elements
  std::int64_t rows;
};

// The rows of an operand that this thread loads, `kRowsAtOnce` apart.
template <class T, int kRows>
struct Loader {
  const T* row;       // its first
  std::int64_t step;  // elements from one of its rows to the next
  int count;          // how many of its rows exist

  // `first`: this thread's first row of the operand; `rows_apart`: from there to its next.
  __device__ Loader(const Operand<T>& m, std::int64_t first, std::int64_t rows_apart) {
    row = m.data + first * m.stride;
    step = rows_apart * m.stride;
    const std::int64_t left = m.rows - first;
    count = left <= 0 ? 0 : static_cast<int>(left > kRows * rows_apart ? kRows / kRowsAtOnce : ceil_div(left, rows_apart));
    if (count > kRows / kRowsAtOnce) count = kRows / kRowsAtOnce;
    if (count == 0) row = m.data;
  }
  // Elements [k, k + kChunk) of every row into the tile.
  template <bool kWide>
  __device__ void load(T* tile, int tile_row, int chunk, std::int64_t k, std::int64_t inner) const {
#pragma unroll
    for (int i = 0; i < kRows / kRowsAtOnce; ++i) {
      T* const to = tile + swizzled(tile_row + i * kRowsAtOnce, chunk);
      const std::int64_t left = i < count ? inner - k : 0;
      if constexpr (kWide) {
        const int valid = left >= kChunk ? kAccess : left > 0 ? static_cast<int>(left) * 2 : 0;
        cp_async<kAccess>(to, valid ? row + i * step + k : row, valid);
      } else {
        Vec<T, kChunk> v{};
        for (int j = 0; j < kChunk; ++j)
          if (j < left) v[j] = ld(row + i * step + k + j);
        st(reinterpret_cast<Vec<T, kChunk>*>(to), v);
      }
    }
  }
};

// This thread's part of a tile of C: tile (i, j) of its warp is 16 x 8, element e at row g + 8 (e / 2), column 2t + e % 2,
// where g = lane / 4, t = lane % 4.
struct Accumulators {
  float c[kTilesM][kTilesN][4];
};
__device__ inline int warp_row() { return warp_id() / (kN / kWarpN) * kWarpM; }
__device__ inline int warp_column() { return warp_id() % (kN / kWarpN) * kWarpN; }

template <class T>
struct Fragments {
  unsigned a[kTilesM][4], b[kTilesN / 2][4];
  // Loads channels [16 step, 16 step + 16) of a stage.
  __device__ void load(const T* a_tile, const T* b_tile, int step) {
    const int lane = lane_id();
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) ldmatrix<4>(a[i], a_tile + swizzled(warp_row() + i * 16 + lane % 16, 2 * step + lane / 16));
#pragma unroll
    for (int j = 0; j < kTilesN / 2; ++j)
      ldmatrix<4>(b[j], b_tile + swizzled(warp_column() + j * 16 + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));
  }
};

// Multiplies this block's tile.  `a` and `b` are this thread's loaders; `scale_b` may change B's fragments (see NoScale).
template <class T, bool kWide, class ScaleB>
__device__ inline void multiply(const Loader<T, kM>& a, const Loader<T, kN>& b, std::int64_t inner, Accumulators& acc,
                                ScaleB&& scale_b) {
  T* const shared = shared_memory<T>();
  const int tile_row = linear_thread() / kChunks, chunk = linear_thread() % kChunks;
  const int steps = static_cast<int>(ceil_div(inner, kK));
  const auto load_stage = [&](int step) {
    if (step < steps) {
      T* const stage = shared + step % kStages * kStageElements;
      const std::int64_t k = static_cast<std::int64_t>(step) * kK + chunk * kChunk;
      a.template load<kWide>(stage, tile_row, chunk, k, inner);
      b.template load<kWide>(stage + kM * kK, tile_row, chunk, k, inner);
      scale_b.load(step % kStages, static_cast<std::int64_t>(step) * kK);
    }
    cp_async_commit();
  };

#pragma unroll
  for (int i = 0; i < kTilesM; ++i)
#pragma unroll
    for (int j = 0; j < kTilesN; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) acc.c[i][j][e] = 0;
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) load_stage(s);

  Fragments<T> fragments[2];
  for (int step = 0; step < steps; ++step) {
    cp_async_wait<kStages - 2>();
    sync_block();
    const T* const a_tile = shared + step % kStages * kStageElements;
    const T* const b_tile = a_tile + kM * kK;
    fragments[0].load(a_tile, b_tile, 0);
    scale_b.fetch(step % kStages, 0);
    load_stage(step + kStages - 1);
#pragma unroll
    for (int s = 0; s < kK / 16; ++s) {
      if (s + 1 < kK / 16) {
        fragments[(s + 1) % 2].load(a_tile, b_tile, s + 1);
        scale_b.fetch(step % kStages, s + 1);
      }
      Fragments<T>& f = fragments[s % 2];
      scale_b.apply(f, s);
#pragma unroll
      for (int i = 0; i < kTilesM; ++i)
#pragma unroll
        for (int j = 0; j < kTilesN; ++j) {
          const unsigned pair[2] = {f.b[j / 2][j % 2 * 2], f.b[j / 2][j % 2 * 2 + 1]};
          mma_m16n8k16<T>(acc.c[i][j], f.a[i], pair);
        }
    }
  }
}
// The form of a scale_b, which changes nothing here.  For one that scales, see mma_gamma.cuh.
struct NoScale {
  __device__ void load(int /*stage*/, std::int64_t /*k*/) const {}  // copies the factors of channels from k on, with the tiles
  __device__ void fetch(int /*stage*/, int /*step*/) const {}       // loads 16 channels' factors, with their fragments
  template <class F>
  __device__ void apply(F& /*fragments*/, int /*step*/) const {}
};

// The tile of this block.  Tiles are numbered down strips of kSuper along m, so that blocks that run together share rows of A
// and of B in L2.
struct TilePlace {
  std::int64_t m, n;
};
__device__ inline TilePlace tile_place(std::int64_t tiles_m, std::int64_t tiles_n) {
  constexpr std::int64_t kSuper = 8;
  const std::int64_t block = blockIdx.x, group = block / (kSuper * tiles_n), first = group * kSuper;
  const std::int64_t height = tiles_m - first < kSuper ? tiles_m - first : kSuper, within = block - group * kSuper * tiles_n;
  return {first + within % height, within / height};
}

// Calls use(row, column, v0, v1) for every pair of neighbouring columns that this thread holds, relative to the tile.
template <class Use>
__device__ inline void for_pairs(const Accumulators& acc, Use&& use) {
  const int row = warp_row() + lane_id() / 4, column = warp_column() + lane_id() % 4 * 2;
#pragma unroll
  for (int i = 0; i < kTilesM; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int j = 0; j < kTilesN; ++j)
        use(row + i * 16 + half * 8, column + j * 8, acc.c[i][j][half * 2], acc.c[i][j][half * 2 + 1]);
}

// A matrix that is written two columns at a time where it can be.
template <class T>
struct Result {
  T* data;
  std::int64_t stride, rows, columns;
  bool paired;  // two elements lie at a multiple of their size wherever the column is even
  __device__ void store(std::int64_t row, std::int64_t column, float v0, float v1) const {
    if (row >= rows || column >= columns) return;
    T* const p = data + row * stride + column;
    if (paired && column + 1 < columns) {
      const float v[2] = {v0, v1};
      st(reinterpret_cast<Vec<T, 2>*>(p), from_floats<T>(v));
    } else {
      st(p, from_float<T>(v0));
      if (column + 1 < columns) st(p + 1, from_float<T>(v1));
    }
  }
};
template <class T>
Operand<T> operand(const Tensor& t) {
  return {t.as<T>(), t.stride[0], t.shape[0]};
}
template <class T>
Result<T> result(const Tensor& t) {
  return {t.as<T>(), t.stride[0], t.shape[0], t.shape[1], t.rows_aligned(2 * sizeof(T))};
}

}  // namespace assay::ASSAY_FLAVOUR::mma_gemm
