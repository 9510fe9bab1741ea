// SPDX-License-Identifier: Apache-2.0
// A tile of 16 tokens by 8 features a warp, by tensor cores, 8 channels a step: each lane gathers its own fragments from global
// memory,
// element by element, without shared memory.
#include "cuda/core/kernel.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, fragments_from_memory) {

inline constexpr int kM = 16, kN = 8, kK = 8;

KERNEL(linear){
    .dtypes = {f16, bf16},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, kM), tile(Axis::out, kN), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32, .mma_terms = kK},
};

// Columns k and k + 1 of a row, zero beyond the end.
template <class T>
__device__ inline unsigned pair(const T* row, bool inside, std::int64_t k, std::int64_t end) {
  const float low = inside && k < end ? to_float(ld(row + k)) : 0.0f;
  const float high = inside && k + 1 < end ? to_float(ld(row + k + 1)) : 0.0f;
  return pack<T>(low, high);
}

template <class T>
__global__ void linear_fragments_from_memory(const T* x, const T* weight, const T* bias, T* y, std::int64_t tokens,
                                             std::int64_t hidden, std::int64_t out, std::int64_t across, std::int64_t x_stride,
                                             std::int64_t weight_stride, std::int64_t y_stride) {
  const int g = lane_id() / 4, t = lane_id() % 4;
  const std::int64_t token = blockIdx.x / across * kM + g, first_out = blockIdx.x % across * kN, o = first_out + g;
  const T* const low = x + token * x_stride;
  const T* const high = low + 8 * x_stride;
  const T* const w = weight + o * weight_stride;
  float c[4] = {};
  for (std::int64_t first = 0; first < hidden; first += kK) {
    const std::int64_t k = first + 2 * t;
    const unsigned a[2] = {pair(low, token < tokens, k, hidden), pair(high, token + 8 < tokens, k, hidden)};
    const unsigned b[1] = {pair(w, o < out, k, hidden)};
    mma_m16n8k8<T>(c, a, b);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const std::int64_t row = token + 8 * (i / 2), column = first_out + 2 * t + i % 2;
    if (row < tokens && column < out)
      st(y + row * y_stride + column, from_float<T>(bias != nullptr ? c[i] + to_float(ld(bias + column)) : c[i]));
  }
}

void run(const linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], across = ceil_div(out, kN);
  if (tokens * out == 0) return;
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(linear_fragments_from_memory<T>, {.grid = dim3(across * ceil_div(tokens, kM)), .block = dim3(kWarp)}, l.stream,
           a.x.as<T>(), a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(), tokens, a.x.shape[1], out, across, a.x.stride[0],
           a.weight.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(linear, fragments_from_memory)
