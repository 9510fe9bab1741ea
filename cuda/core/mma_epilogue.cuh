// SPDX-License-Identifier: Apache-2.0
// For epilogues of mma_gemm.cuh with much work an element: a tile of C passes through shared memory and is taken 8 neighbouring
// columns at a time, in a loop that is not unrolled.  Note: a loop over registers must unroll all 128 accumulators of a thread;
// at 50 instructions each that is 100 KB of code, more than an SM's instruction caches hold.
#pragma once

#include "cuda/core/mma_gemm.cuh"

namespace assay::ASSAY_FLAVOUR::mma_gemm {

// Rows of the tile lie 8 words apart modulo the 32 banks, so that pairs of columns of four rows cover all banks.
inline constexpr int kPitch = kN + 8, kRowChunks = kN / kChunk, kChunkRowsAtOnce = kThreads / kRowChunks;
static_assert(kPitch % 32 == 8 && kPitch * kM * sizeof(float) <= kSharedBytes, "the tile lies where the stages were");
static_assert(kThreads % kRowChunks == 0 && kM % kChunkRowsAtOnce == 0 && kChunk == 8);

// The first of this thread's columns, relative to the tile.
__device__ inline int chunk_column() { return linear_thread() % kRowChunks * kChunk; }

// Calls use(row, values) for this thread's 8 columns of row after row of the tile.
template <class Use>
__device__ inline void for_chunks(const Accumulators& acc, Use&& use) {
  float* const tile = shared_memory<float>();
  // Wait until no thread uses the stages, whose memory the tile takes.
  cp_async_wait<0>();
  sync_block();
  for_pairs(acc, [&](int row, int column, float v0, float v1) {
    st(reinterpret_cast<Vec<float, 2>*>(tile + row * kPitch + column), Vec<float, 2>{{v0, v1}});
  });
  sync_block();
#pragma unroll 1
  for (int row = linear_thread() / kRowChunks; row < kM; row += kChunkRowsAtOnce) {
    const auto* const from = reinterpret_cast<const Vec<float, 4>*>(tile + row * kPitch + chunk_column());
    const Vec<float, 4> low = ld(from), high = ld(from + 1);
    float v[kChunk] = {low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3]};
    use(row, v);
  }
}

// Stores those of elements [column, column + 8) of a row of y that exist.  `wide`: rows of y start at multiples of 16 bytes.
template <class T>
__device__ inline void store_chunk(const Result<T>& y, std::int64_t row, std::int64_t column, const float (&v)[kChunk],
                                   bool wide) {
  if (row >= y.rows) return;
  T* const to = y.data + row * y.stride + column;
  if (wide && column + kChunk <= y.columns) st(reinterpret_cast<Vec<T, kChunk>*>(to), from_floats<T>(v));
  else
    for (int j = 0; j < kChunk; ++j)
      if (column + j < y.columns) st(to + j, from_float<T>(v[j]));
}

}  // namespace assay::ASSAY_FLAVOUR::mma_gemm
