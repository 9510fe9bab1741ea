// SPDX-License-Identifier: Apache-2.0
// Tiles of 10 tokens by 24 features, 13 channels deep, in shared memory; factors are rounded to TF32's 11 bits on the way
// there, by an
// integer addition (ties away from zero), as declared.
#include "cuda/core/kernel.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, tensor_float_tiles) {

inline constexpr int kM = 10, kN = 24, kK = 13, kThreads = kM * kN;

KERNEL(linear){
    .dtypes = {f32},
    .tiles = {tile(Axis::tokens, kM), tile(Axis::out, kN), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .factors = {.precision = 11}},
};

// Note: a NaN may have all its bits set, which the addition would carry into the sign.
__device__ inline float narrow(float v) {
  return v != v ? v : __builtin_bit_cast(float, (__builtin_bit_cast(unsigned, v) + 0x1000u) & ~0x1fffu);
}

__global__ void __launch_bounds__(kThreads)
    linear_tensor_float_tiles(const float* x, const float* weight, const float* bias, float* y, std::int64_t tokens,
                              std::int64_t hidden, std::int64_t out, std::int64_t across, std::int64_t x_stride,
                              std::int64_t weight_stride, std::int64_t y_stride) {
  float* const of_x = shared_memory<float>();
  float* const of_w = of_x + kM * kK;
  const std::int64_t first_token = static_cast<std::int64_t>(blockIdx.x) / across * kM;
  const std::int64_t first_out = static_cast<std::int64_t>(blockIdx.x) % across * kN;
  const int thread = static_cast<int>(threadIdx.x), m = thread / kN, n = thread % kN;
  float sum = 0;
  for (std::int64_t first = 0; first < hidden; first += kK) {
    for (int i = thread; i < kM * kK; i += kThreads) {
      const std::int64_t token = first_token + i / kK, h = first + i % kK;
      st(of_x + i, token < tokens && h < hidden ? narrow(ld(x + token * x_stride + h)) : 0.0f);
    }
    for (int i = thread; i < kN * kK; i += kThreads) {
      const std::int64_t o = first_out + i / kK, h = first + i % kK;
      st(of_w + i, o < out && h < hidden ? narrow(ld(weight + o * weight_stride + h)) : 0.0f);
    }
    sync_block();
    const int depth = hidden - first < kK ? static_cast<int>(hidden - first) : kK;
    for (int k = 0; k < depth; ++k) sum = fmaf(ld(of_x + m * kK + k), ld(of_w + n * kK + k), sum);
    sync_block();
  }
  const std::int64_t token = first_token + m, o = first_out + n;
  if (token < tokens && o < out) st(y + token * y_stride + o, bias != nullptr ? sum + ld(bias + o) : sum);
}

void run(const linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], across = ceil_div(out, kN);
  if (tokens * out == 0) return;
  launch(linear_tensor_float_tiles,
         {.grid = dim3(across * ceil_div(tokens, kM)), .block = dim3(kThreads), .shared_bytes = (kM + kN) * kK * sizeof(float)},
         l.stream, a.x.as<float>(), a.weight.as<float>(), a.bias.as<float>(), a.y.as<float>(), tokens, a.x.shape[1], out, across,
         a.x.stride[0], a.weight.stride[0], a.y.stride[0]);
}

}  // namespace assay::ROOM(linear, tensor_float_tiles)
