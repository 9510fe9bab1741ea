// SPDX-License-Identifier: Apache-2.0
// A row a block of 96 threads, the sums added anew in each pass; 1 / root from the bits of its argument and two steps of
// Newton: 79.3
// units of 2^-24 at most over all fractions of two binades; 79 count as the root's, 1 as the quotient's.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/residual_rmsnorm.hpp"

namespace assay::ROOM(residual_rmsnorm, newton_root) {

inline constexpr int kThreads = 96;

// Five additions in a warp, two to join three warps.
KERNEL(residual_rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 5 + 2}, .root_error = 79},
    .supports = residual_rmsnorm::rounded_alone,
};

__device__ inline float inverse_root(float v) {
  if (!(v >= 0x1p-120f && v <= 0x1p120f)) return 1.0f / sqrtf(v);
  float r = __builtin_bit_cast(float, 0x5f3759dfu - (__builtin_bit_cast(unsigned, v) >> 1));
  for (int step = 0; step < 2; ++step) r = r * fmaf(-0.5f * v * r, r, 1.5f);
  return r;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    residual_rmsnorm_newton_root(const T* x, const T* residual, const T* gamma, T* y, T* s, std::int64_t cols,
                                 std::int64_t x_stride, std::int64_t residual_stride, std::int64_t y_stride,
                                 std::int64_t s_stride, float epsilon) {
  const std::int64_t row = blockIdx.x;
  x += row * x_stride, residual += row * residual_stride, y += row * y_stride, s += row * s_stride;
  const auto stored = [&](std::int64_t c) { return from_float<T>(to_float(ld(x + c)) + to_float(ld(residual + c))); };
  float squares = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) {
    const float v = to_float(stored(c));
    squares = fmaf(v, v, squares);
  }
  const float r = inverse_root(block_sum(squares, shared_memory<float>()) / static_cast<float>(cols) + epsilon);
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) {
    const T v = stored(c);
    st(s + c, v);
    st(y + c, from_float<T>(to_float(v) * r * to_float(ld(gamma + c))));
  }
}

void run(const residual_rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(residual_rmsnorm_newton_root<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(float)}, l.stream, a.x.as<T>(),
           a.residual.as<T>(), a.gamma.as<T>(), a.y.as<T>(), a.s.as<T>(), a.x.shape[1], a.x.stride[0], a.residual.stride[0],
           a.y.stride[0], a.s.stride[0], static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(residual_rmsnorm, newton_root)
