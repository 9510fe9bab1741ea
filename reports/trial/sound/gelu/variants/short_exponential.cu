// SPDX-License-Identifier: Apache-2.0
// Two elements a thread, those of a pair far apart; the sigmoid's exponential by a polynomial of degree 5 on |r| <= ln 2 / 2,
// whose
// rest is r^6 / 720 / e^r <= 57.2 units of 2^-24, with 5 more for its roundings; results below 2^-126 become zero.
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/gelu.hpp"

namespace assay::ROOM(gelu, short_exponential) {

inline constexpr int kThreads = 128;

KERNEL(gelu){.dtypes = {f16, bf16, f32},
             .tiles = {tile(Axis::cols, 2 * kThreads)},
             .numerics = {.accumulate = f32, .function_error = 63, .flushes_subnormals = true}};

// e^v of v <= 0 or NaN: 2^n e^r, v = n ln 2 + r, ln 2 in two parts.
__device__ inline float exponential(float v) {
  if (v < -87.34f) return 0.0f;
  if (v != v) return v;
  const float n = rintf(v * 1.44269504f), r = fmaf(n, -1.42860677e-6f, fmaf(n, -0.693145752f, v));
  const float p = fmaf(fmaf(fmaf(fmaf(fmaf(1 / 120.0f, r, 1 / 24.0f), r, 1 / 6.0f), r, 0.5f), r, 1.0f), r, 1.0f);
  return p * __builtin_bit_cast(float, static_cast<unsigned>(static_cast<int>(n) + 127) << 23);
}
__device__ inline float short_gelu(float z, bool erf_form) {
  if (erf_form) return gelu_erf(z);
  constexpr float kLinear = 1.5957691216057308f, kCubic = 0.07135481627260025f;
  const float v = z * fmaf(kCubic, z * z, kLinear), t = exponential(-fabsf(v));
  return (v < 0.0f ? z * t : z) / (1.0f + t);
}

template <class T>
__global__ void gelu_short_exponential(const T* x, T* y, std::int64_t all, std::int64_t cols, std::int64_t x_stride,
                                       std::int64_t y_stride, bool erf_form) {
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * (2 * kThreads) + threadIdx.x;
  for (int k = 0; k < 2 && i < all; ++k, i += kThreads) {
    const std::int64_t row = i / cols, col = i - row * cols;
    st(y + row * y_stride + col, from_float<T>(short_gelu(to_float(ld(x + row * x_stride + col)), erf_form)));
  }
}

void run(const gelu::Args& a, const Launch& l) {
  const std::int64_t all = a.x.size();
  if (all == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(gelu_short_exponential<T>, {.grid = dim3(ceil_div(all, 2 * kThreads)), .block = dim3(kThreads)}, l.stream,
           a.x.as<T>(), a.y.as<T>(), all, a.x.shape[1], a.x.stride[0], a.y.stride[0], a.form == Activation::gelu_erf);
  });
}

}  // namespace assay::ROOM(gelu, short_exponential)
