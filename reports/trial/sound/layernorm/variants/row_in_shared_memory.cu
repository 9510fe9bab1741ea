// SPDX-License-Identifier: Apache-2.0
// A row a block of three warps, kept in shared memory as differences from its mean, for rows of up to 8192 columns; sums are
// multiplied by 1 / cols, one rounding more.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/layernorm.hpp"

namespace assay::ROOM(layernorm, row_in_shared_memory) {

inline constexpr int kThreads = 3 * kWarp;
inline constexpr std::int64_t kMostCols = 8192;

Legality supports(const layernorm::Args& a) {
  return a.x.shape[1] > kMostCols ? Legality::no("a row has more than 8192 columns") : Legality::yes();
}
// Five additions in a warp, two to join three warps, and the rounding of 1 / cols.
KERNEL(layernorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 5 + 2 + 1}},
    .supports = supports,
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    layernorm_row_in_shared_memory(const T* x, const T* gamma, const T* beta, T* y, int cols, std::int64_t x_stride,
                                   std::int64_t y_stride, float epsilon) {
  float* const partial = shared_memory<float>();
  float* const held = partial + kWarp;
  x += blockIdx.x * x_stride, y += blockIdx.x * y_stride;
  const int thread = static_cast<int>(threadIdx.x);
  const float part = 1.0f / static_cast<float>(cols);
  float sum = 0, squares = 0;
  for (int c = thread; c < cols; c += kThreads) {
    const float v = to_float(ld(x + c));
    st(held + c, v);
    sum += v;
  }
  const float mean = block_sum(sum, partial) * part;
  for (int c = thread; c < cols; c += kThreads) {
    const float d = ld(held + c) - mean;
    st(held + c, d);
    squares = fmaf(d, d, squares);
  }
  const float r = 1.0f / sqrtf(fmaf(block_sum(squares, partial), part, epsilon));
  for (int c = thread; c < cols; c += kThreads)
    st(y + c, from_float<T>(fmaf(ld(held + c) * r, to_float(ld(gamma + c)), to_float(ld(beta + c)))));
}

void run(const layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_row_in_shared_memory<T>,
           {.grid = dim3(a.x.shape[0]),
            .block = dim3(kThreads),
            .shared_bytes = static_cast<std::size_t>(kWarp + a.x.shape[1]) * sizeof(float)},
           l.stream, a.x.as<T>(), a.gamma.as<T>(), a.beta.as<T>(), a.y.as<T>(), static_cast<int>(a.x.shape[1]), a.x.stride[0],
           a.y.stride[0], static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(layernorm, row_in_shared_memory)
