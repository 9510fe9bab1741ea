// SPDX-License-Identifier: Apache-2.0
// A token a block of 96 threads, for up to 8192 units: h stays in shared memory as floats.  The sigmoid's exponential is exp2
// of the
// exponent times log2(e), two roundings more, by exp2_approx, whose subnormal results are zero.
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/ffn_gelu.hpp"

namespace assay::ROOM(ffn_gelu, token_a_block) {

inline constexpr int kThreads = 96;
inline constexpr std::int64_t kMostUnits = 8192;

Legality supports(const ffn_gelu::Args& a) {
  return a.w1.shape[0] > kMostUnits ? Legality::no("there are more than 8192 units") : Legality::yes();
}
KERNEL(ffn_gelu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::ffn, kThreads), tile(Axis::hidden, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .exponent_error = 2, .flushes_subnormals = true},
    .supports = supports,
};

__device__ inline float activated(float z, bool erf_form) {
  if (erf_form) return gelu_erf(z);
  constexpr float kLinear = 1.5957691216057308f, kCubic = 0.07135481627260025f;  // 2 sqrt(2/pi), 0.044715 times it
  const float v = z * fmaf(kCubic, z * z, kLinear), t = exp2_approx(-fabsf(v) * 1.4426950408889634f);
  return (v < 0.0f ? z * t : z) / (1.0f + t);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    ffn_gelu_token_a_block(const T* x, const T* w1, const T* b1, const T* w2, const T* b2, T* y, std::int64_t hidden,
                           std::int64_t ffn, std::int64_t x_stride, std::int64_t w1_stride, std::int64_t w2_stride,
                           std::int64_t y_stride, bool erf_form) {
  float* const h = shared_memory<float>();
  x += blockIdx.x * x_stride, y += blockIdx.x * y_stride;
  for (std::int64_t f = threadIdx.x; f < ffn; f += kThreads) {
    float z = 0;
    for (std::int64_t c = 0; c < hidden; ++c) z = fmaf(to_float(ld(x + c)), to_float(ld(w1 + f * w1_stride + c)), z);
    if (b1 != nullptr) z += to_float(ld(b1 + f));
    st(h + f, activated(z, erf_form));
  }
  sync_block();
  for (std::int64_t o = threadIdx.x; o < hidden; o += kThreads) {
    float sum = 0;
    for (std::int64_t f = ffn - 1; f >= 0; --f) sum = fmaf(ld(h + f), to_float(ld(w2 + o * w2_stride + f)), sum);
    st(y + o, from_float<T>(b2 != nullptr ? sum + to_float(ld(b2 + o)) : sum));
  }
}

void run(const ffn_gelu::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(ffn_gelu_token_a_block<T>,
           {.grid = dim3(a.x.shape[0]),
            .block = dim3(kThreads),
            .shared_bytes = static_cast<std::size_t>(a.w1.shape[0]) * sizeof(float)},
           l.stream, a.x.as<T>(), a.w1.as<T>(), a.b1.as<T>(), a.w2.as<T>(), a.b2.as<T>(), a.y.as<T>(), a.x.shape[1],
           a.w1.shape[0], a.x.stride[0], a.w1.stride[0], a.w2.stride[0], a.y.stride[0], a.form == Activation::gelu_erf);
  });
}

}  // namespace assay::ROOM(ffn_gelu, token_a_block)
