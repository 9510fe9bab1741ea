// SPDX-License-Identifier: Apache-2.0
// FAULT: the next 256 channels of x are fetched into registers and stored over the tile that other warps still read: only the
// store is followed by a barrier.
// Kind: concurrency
// Shows: hidden > 256.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, next_tile_into_same_buffer) {

inline constexpr int kTile = 256, kEach = kTile / kPlainThreads;

template <class T>
__global__ void prefetched(Operands<T> p) {
  float* const tile = shared_memory<float>();
  const std::int64_t token = blockIdx.x, f = static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x;
  const T* const x = p.x + token * p.x_stride;
  float next[kEach], gate = 0, up = 0;
  const auto fetch = [&](std::int64_t first) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const std::int64_t h = first + i * kPlainThreads + threadIdx.x;
      next[i] = h < p.hidden ? to_float(ld(x + h)) : 0.0f;
    }
  };
  const auto put = [&] {
#pragma unroll
    for (int i = 0; i < kEach; ++i) st(tile + i * kPlainThreads + threadIdx.x, next[i]);
    sync_block();
  };
  fetch(0);
  put();
  for (std::int64_t first = 0; first < p.hidden; first += kTile) {
    const bool more = first + kTile < p.hidden;
    if (more) fetch(first + kTile);
    const std::int64_t count = more ? kTile : p.hidden - first;
    if (f < p.ffn)
      for (std::int64_t h = 0; h < count; ++h) {
        const float v = ld(tile + h);
        gate = fmaf(v, to_float(ld(p.w_gate + f * p.gate_stride + first + h)), gate);
        up = fmaf(v, to_float(ld(p.w_up + f * p.up_stride + first + h)), up);
      }
    if (more) put();
  }
  if (f < p.ffn) st(p.y + token * p.y_stride + f, from_float<T>(silu(gate) * up));
}

KERNEL(gemm_swiglu) = {.dtypes = kEveryType,
                       .tiles = {tile(Axis::tokens, 1), tile(Axis::ffn, kPlainThreads), tile(Axis::hidden, kTile)},
                       .numerics = {.accumulate = f32, .chain = {.lanes = 1}}};

void run(const gemm_swiglu::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p = operands_of<T>(a);
    launch(prefetched<T>,
           {.grid = dim3(p.tokens, ceil_div(p.ffn, kPlainThreads)), .block = dim3(kPlainThreads), .shared_bytes = kTile * sizeof(float)},
           l.stream, p);
  });
}

}  // namespace assay::ROOM(gemm_swiglu, next_tile_into_same_buffer)
