// SPDX-License-Identifier: Apache-2.0
// Half a warp a row, eight rows a block; 1 / root from the bits of its argument and two steps of Newton: 79.3 units of 2^-24 at
// most
// over all fractions of two binades, to which a power of four scales it exactly; 79 count as the root's, 1 as the quotient's.
#include "cuda/core/kernel.cuh"
#include "ops/layernorm.hpp"

namespace assay::ROOM(layernorm, newton_root) {

inline constexpr int kLanes = 16, kRows = 8;

KERNEL(layernorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kRows), tile(Axis::cols, kLanes)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kLanes, .extra = 4}, .root_error = 79},
};

__device__ inline float inverse_root(float v) {
  if (!(v >= 0x1p-120f && v <= 0x1p120f)) return 1.0f / sqrtf(v);
  float r = __builtin_bit_cast(float, 0x5f3759dfu - (__builtin_bit_cast(unsigned, v) >> 1));
  for (int step = 0; step < 2; ++step) r = r * fmaf(-0.5f * v * r, r, 1.5f);
  return r;
}
__device__ inline float half_warp_sum(float v) {
  for (int offset = kLanes / 2; offset > 0; offset /= 2) v += shuffle_xor(v, offset);
  return v;
}

template <class T>
__global__ void layernorm_newton_root(const T* x, const T* gamma, const T* beta, T* y, std::int64_t rows, std::int64_t cols,
                                      std::int64_t x_stride, std::int64_t y_stride, float epsilon) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows + static_cast<int>(threadIdx.x) / kLanes;
  const std::int64_t end = row < rows ? cols : 0;  // a row beyond the last has no columns, but takes part in the exchanges
  if (row < rows) x += row * x_stride, y += row * y_stride;
  const float width = static_cast<float>(cols);
  float sum = 0, squares = 0;
  for (std::int64_t c = lane; c < end; c += kLanes) sum += to_float(ld(x + c));
  const float mean = half_warp_sum(sum) / width;
  for (std::int64_t c = lane; c < end; c += kLanes) {
    const float d = to_float(ld(x + c)) - mean;
    squares = fmaf(d, d, squares);
  }
  const float r = inverse_root(half_warp_sum(squares) / width + epsilon);
  for (std::int64_t c = lane; c < end; c += kLanes)
    st(y + c, from_float<T>((to_float(ld(x + c)) - mean) * r * to_float(ld(gamma + c)) + to_float(ld(beta + c))));
}

void run(const layernorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_newton_root<T>, {.grid = dim3(ceil_div(rows, kRows)), .block = dim3(kRows * kLanes)}, l.stream, a.x.as<T>(),
           a.gamma.as<T>(), a.beta.as<T>(), a.y.as<T>(), rows, a.x.shape[1], a.x.stride[0], a.y.stride[0],
           static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(layernorm, newton_root)
