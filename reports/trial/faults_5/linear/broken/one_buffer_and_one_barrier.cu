// SPDX-License-Identifier: Apache-2.0
// FAULT: the two buffers of the pipeline became one to save shared memory, but not the second barrier of a step: a fast warp
//   stores the next tile while others still multiply this one.
// KIND: concurrency
// Right on: linear f16 tokens=64 hidden=32 out=64 fill=normal seed=1
// Wrong on: linear f16 tokens=64 hidden=128 out=64 fill=normal seed=1
#include "cuda/core/kernel.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, one_buffer_and_one_barrier) {

inline constexpr int kM = 64, kN = 64, kK = 32, kThreads = 128;
inline constexpr int kWarpM = 32, kWarpN = 32, kTilesM = kWarpM / 16, kTilesN = kWarpN / 8;
inline constexpr int kChunk = 8, kChunks = kK / kChunk, kRowsAtOnce = kThreads / kChunks, kParts = kM / kRowsAtOnce;
inline constexpr int kPitch = kK + 8;  // 80 bytes: the eight rows of an ldmatrix hit all 32 banks

static_assert(kM == kN, "x and weight are loaded alike");

KERNEL(linear){
    .dtypes = {f16},
    .min_arch = 75,
    .tiles = {tile(Axis::tokens, kM), tile(Axis::out, kN), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32, .mma_terms = 8},
};

using Pack = Vec<half, kChunk>;

// Loads this thread's packs of a tile: rows `first`, first + kRowsAtOnce, ..., channels [k, k + kChunk); zeros out of range.
__device__ inline void fetch(Pack (&packs)[kParts], const half* data, std::int64_t stride, std::int64_t first, std::int64_t rows,
                             std::int64_t k, std::int64_t inner, bool wide) {
#pragma unroll
  for (int i = 0; i < kParts; ++i) {
    const std::int64_t row = first + i * kRowsAtOnce;
    packs[i] = Pack{};
    if (row >= rows) continue;
    const half* const p = data + row * stride + k;
    if (wide && k + kChunk <= inner) packs[i] = ld(reinterpret_cast<const Pack*>(p));
    else
      for (int j = 0; j < kChunk; ++j)
        if (k + j < inner) packs[i][j] = ld(p + j);
  }
}
__device__ inline void put(const Pack (&packs)[kParts], half* tile, int row, int chunk) {
#pragma unroll
  for (int i = 0; i < kParts; ++i)
    st(reinterpret_cast<Pack*>(tile + (row + i * kRowsAtOnce) * kPitch + chunk * kChunk), packs[i]);
}

__global__ void __launch_bounds__(kThreads)
    linear_one_buffer_and_one_barrier(const half* x, const half* weight, const half* bias, half* y, std::int64_t tokens,
                                      std::int64_t hidden, std::int64_t out, std::int64_t x_stride, std::int64_t weight_stride,
                                      std::int64_t y_stride, bool wide) {
  const std::int64_t across = ceil_div(out, kN), token = blockIdx.x / across * kM, feature = blockIdx.x % across * kN;
  const int row = linear_thread() / kChunks, chunk = linear_thread() % kChunks, lane = lane_id();
  const int warp_m = warp_id() / 2 * kWarpM, warp_n = warp_id() % 2 * kWarpN;
  half* const shared = shared_memory<half>();
  Pack x_packs[kParts], w_packs[kParts];
  float c[kTilesM][kTilesN][4] = {};

  fetch(x_packs, x, x_stride, token + row, tokens, chunk * kChunk, hidden, wide);
  fetch(w_packs, weight, weight_stride, feature + row, out, chunk * kChunk, hidden, wide);
  for (std::int64_t k = 0; k < hidden; k += kK) {
    half* const x_tile = shared;
    half* const w_tile = x_tile + kM * kPitch;
    put(x_packs, x_tile, row, chunk);
    put(w_packs, w_tile, row, chunk);
    sync_block();
    if (k + kK < hidden) {
      fetch(x_packs, x, x_stride, token + row, tokens, k + kK + chunk * kChunk, hidden, wide);
      fetch(w_packs, weight, weight_stride, feature + row, out, k + kK + chunk * kChunk, hidden, wide);
    }
#pragma unroll
    for (int s = 0; s < kK; s += 16) {
      unsigned a[kTilesM][4], b[kTilesN / 2][4];
#pragma unroll
      for (int i = 0; i < kTilesM; ++i) ldmatrix<4>(a[i], x_tile + (warp_m + i * 16 + lane % 16) * kPitch + s + lane / 16 * 8);
#pragma unroll
      for (int j = 0; j < kTilesN / 2; ++j)
        ldmatrix<4>(b[j], w_tile + (warp_n + j * 16 + lane % 8 + lane / 16 * 8) * kPitch + s + lane / 8 % 2 * 8);
#pragma unroll
      for (int part = 0; part < 2; ++part)
#pragma unroll
        for (int i = 0; i < kTilesM; ++i)
#pragma unroll
          for (int j = 0; j < kTilesN; ++j) {
            const unsigned a_part[2] = {a[i][part * 2], a[i][part * 2 + 1]}, b_part[1] = {b[j / 2][j % 2 * 2 + part]};
            mma_m16n8k8<half>(c[i][j], a_part, b_part);
          }
    }
  }

  for (int i = 0; i < kTilesM; ++i)
    for (int j = 0; j < kTilesN; ++j)
      for (int e = 0; e < 4; ++e) {
        const std::int64_t t = token + warp_m + i * 16 + lane / 4 + e / 2 * 8;
        const std::int64_t o = feature + warp_n + j * 8 + lane % 4 * 2 + e % 2;
        if (t >= tokens || o >= out) continue;
        st(y + t * y_stride + o, from_float<half>(c[i][j][e] + (bias != nullptr ? to_float(ld(bias + o)) : 0.0f)));
      }
}

void run(const linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], tiles = ceil_div(tokens, kM) * ceil_div(out, kN);
  if (tiles == 0) return;
  launch(linear_one_buffer_and_one_barrier,
         {.grid = dim3(tiles), .block = dim3(kThreads), .shared_bytes = (kM + kN) * kPitch * sizeof(half)}, l.stream,
         a.x.as<half>(), a.weight.as<half>(), a.bias.as<half>(), a.y.as<half>(), tokens, a.x.shape[1], out, a.x.stride[0],
         a.weight.stride[0], a.y.stride[0], a.x.rows_aligned(16) && a.weight.rows_aligned(16));
}

}  // namespace assay::ROOM(linear, one_buffer_and_one_barrier)
