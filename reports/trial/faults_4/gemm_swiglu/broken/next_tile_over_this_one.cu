// SPDX-License-Identifier: Apache-2.0
// FAULT: loads tiles of 64 channels to shared memory with a barrier before they are used, but none after, so a fast warp
// stores the next tile while a slow one still reads this one. Right up to hidden=64. Visible beyond.
// KIND: concurrency
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/gemm_swiglu.hpp"

namespace assay::ROOM(gemm_swiglu, next_tile_over_this_one) {

inline constexpr int kSide = 16, kK = 64, kPitch = kK + 1, kThreads = kSide * kSide;

KERNEL(gemm_swiglu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kSide), tile(Axis::ffn, kSide), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Rows {
  const T* data;
  std::int64_t stride, rows;
};

// Loads 16 rows of 64 channels, with zeros beyond the ends.
template <class T>
__device__ inline void load(float* tile, const Rows<T>& m, std::int64_t row, std::int64_t k, std::int64_t hidden) {
  for (int i = linear_thread(); i < kSide * kK; i += kThreads) {
    const std::int64_t r = row + i / kK, h = k + i % kK;
    st(tile + i / kK * kPitch + i % kK, r < m.rows && h < hidden ? to_float(ld(m.data + r * m.stride + h)) : 0.0f);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    gemm_swiglu_small_tiles(Rows<T> x, Rows<T> w_gate, Rows<T> w_up, T* y, std::int64_t y_stride, std::int64_t hidden) {
  const std::int64_t across = ceil_div(w_gate.rows, kSide), row = blockIdx.x / across * kSide,
                     column = blockIdx.x % across * kSide;
  float* const tile_x = shared_memory<float>();
  float* const tile_gate = tile_x + kSide * kPitch;
  float* const tile_up = tile_gate + kSide * kPitch;
  const int r = static_cast<int>(threadIdx.y), c = static_cast<int>(threadIdx.x);
  float gate = 0, up = 0;
  for (std::int64_t k = 0; k < hidden; k += kK) {
    load(tile_x, x, row, k, hidden);
    load(tile_gate, w_gate, column, k, hidden);
    load(tile_up, w_up, column, k, hidden);
    sync_block();
    for (int i = 0; i < kK; ++i) {
      const float v = ld(tile_x + r * kPitch + i);
      gate = fmaf(v, ld(tile_gate + c * kPitch + i), gate);
      up = fmaf(v, ld(tile_up + c * kPitch + i), up);
    }
  }
  if (row + r < x.rows && column + c < w_gate.rows) st(y + (row + r) * y_stride + column + c, from_float<T>(silu(gate) * up));
}

void run(const gemm_swiglu::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], ffn = a.y.shape[1];
  if (tokens == 0 || ffn == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(gemm_swiglu_small_tiles<T>,
           {.grid = dim3(ceil_div(tokens, kSide) * ceil_div(ffn, kSide)),
            .block = dim3(kSide, kSide),
            .shared_bytes = 3 * kSide * kPitch * sizeof(float)},
           l.stream, Rows<T>{a.x.as<T>(), a.x.stride[0], tokens}, Rows<T>{a.w_gate.as<T>(), a.w_gate.stride[0], ffn},
           Rows<T>{a.w_up.as<T>(), a.w_up.stride[0], ffn}, a.y.as<T>(), a.y.stride[0], a.x.shape[1]);
  });
}

}  // namespace assay::ROOM(gemm_swiglu, next_tile_over_this_one)
