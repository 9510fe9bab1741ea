// SPDX-License-Identifier: Apache-2.0
// A thread takes four elements, a block's width apart; the sigmoid's exponential by a polynomial of degree 5 on |r| <= ln 2 /
// 2, whose
// rest is r^6 / 720 / e^r <= 57.2 units of 2^-24, with 5 more for its roundings; results below 2^-126 become zero.
#include "cuda/core/kernel.cuh"
#include "ops/silu_mul.hpp"

namespace assay::ROOM(silu_mul, short_exponential) {

inline constexpr int kThreads = 96, kEach = 4;

KERNEL(silu_mul){.dtypes = {f16, bf16, f32},
                 .tiles = {tile(Axis::cols, kEach * kThreads)},
                 .numerics = {.accumulate = f32, .function_error = 63, .flushes_subnormals = true}};

// e^v of v <= 0 or NaN: 2^n e^r, v = n ln 2 + r, ln 2 in two parts.
__device__ inline float exponential(float v) {
  if (v < -87.34f) return 0.0f;
  if (v != v) return v;
  const float n = rintf(v * 1.44269504f), r = fmaf(n, -1.42860677e-6f, fmaf(n, -0.693145752f, v));
  const float p = fmaf(fmaf(fmaf(fmaf(fmaf(1 / 120.0f, r, 1 / 24.0f), r, 1 / 6.0f), r, 0.5f), r, 1.0f), r, 1.0f);
  return p * __builtin_bit_cast(float, static_cast<unsigned>(static_cast<int>(n) + 127) << 23);
}

template <class T>
__global__ void silu_mul_short_exponential(const T* gate, const T* up, T* y, std::int64_t all, std::int64_t cols,
                                           std::int64_t gate_stride, std::int64_t up_stride, std::int64_t y_stride) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * (kEach * kThreads) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const std::int64_t i = first + k * kThreads;
    if (i >= all) return;
    const std::int64_t row = i / cols, col = i - row * cols;
    const float g = to_float(ld(gate + row * gate_stride + col)), t = exponential(-fabsf(g));
    const float s = (g < 0.0f ? g * t : g) / (1.0f + t);
    st(y + row * y_stride + col, from_float<T>(s * to_float(ld(up + row * up_stride + col))));
  }
}

void run(const silu_mul::Args& a, const Launch& l) {
  const std::int64_t all = a.y.size();
  if (all == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(silu_mul_short_exponential<T>, {.grid = dim3(ceil_div(all, kEach * kThreads)), .block = dim3(kThreads)}, l.stream,
           a.gate.as<T>(), a.up.as<T>(), a.y.as<T>(), all, a.y.shape[1], a.gate.stride[0], a.up.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(silu_mul, short_exponential)
