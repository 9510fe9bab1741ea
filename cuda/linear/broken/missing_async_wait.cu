// SPDX-License-Identifier: Apache-2.0
// FAULT: only the first of the tiles that cp.async brings is waited for before the barrier.
// Caught by: T4 on simt, which sees the bytes in flight; on a GPU T1, where the copies are late. More than 16 channels.
#include "cuda/core/kernel.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, missing_async_wait) {

inline constexpr int kThreads = 32, kTokens = 16, kOut = 8, kK = 16;

Legality supports(const linear::Args& a) {
  if (a.x.rows_aligned(16) && a.weight.rows_aligned(16)) return Legality::yes();
  return Legality::no("rows must start at multiples of 16 bytes");
}

KERNEL(linear){
    .dtypes = {f16, bf16},
    .least_arch = 80,
    .tiles = {tile(Axis::tokens, kTokens), tile(Axis::out, kOut), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32, .mma_terms = 8},
    .supports = supports,
};

template <class T>
__global__ void missing_async_wait(const T* x, const T* weight, const T* bias, T* y, std::int64_t tokens, std::int64_t hidden,
                                   std::int64_t out, std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride) {
  T* const x_tile = shared_memory<T>();
  T* const w_tile = x_tile + kTokens * kK;
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kTokens;
  const std::int64_t feature = static_cast<std::int64_t>(blockIdx.y) * kOut;
  const int lane = lane_id(), row = lane / 2, part = lane % 2 * 8;
  float c[4] = {0, 0, 0, 0};
  for (std::int64_t k = 0; k < hidden; k += kK) {
    const std::int64_t left = hidden - k - part;
    const int bytes = left >= 8 ? 16 : left > 0 ? static_cast<int>(left) * 2 : 0;
    const bool x_there = token + row < tokens && bytes > 0, w_there = feature + row < out && bytes > 0;
    cp_async<16>(x_tile + row * kK + part, x_there ? x + (token + row) * x_stride + k + part : x, x_there ? bytes : 0);
    if (row < kOut)
      cp_async<16>(w_tile + row * kK + part, w_there ? weight + (feature + row) * weight_stride + k + part : weight,
                   w_there ? bytes : 0);
    cp_async_commit();
    if (k == 0) cp_async_wait<0>();
    sync_block();
    unsigned a[4], b[2];
    ldmatrix<4>(a, x_tile + lane % 16 * kK + lane / 16 * 8);
    ldmatrix<2>(b, w_tile + lane % 8 * kK + lane / 8 % 2 * 8);
    mma_m16n8k16<T>(c, a, b);
    sync_block();
  }
  for (int e = 0; e < 4; ++e) {
    const std::int64_t t = token + lane / 4 + e / 2 * 8, o = feature + lane % 4 * 2 + e % 2;
    if (t < tokens && o < out) st(y + t * y_stride + o, from_float<T>(c[e] + (bias != nullptr ? to_float(ld(bias + o)) : 0.0f)));
  }
}

void run(const linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1];
  if (tokens == 0 || out == 0) return;
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(missing_async_wait<T>,
           {.grid = dim3(ceil_div(tokens, kTokens), ceil_div(out, kOut)),
            .block = dim3(kThreads),
            .shared_bytes = (kTokens + kOut) * kK * 2},
           l.stream, a.x.as<T>(), a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(), tokens, a.x.shape[1], out, a.x.stride[0],
           a.weight.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(linear, missing_async_wait)
