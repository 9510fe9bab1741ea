// SPDX-License-Identifier: Apache-2.0
// FAULT: means and squares of threads are merged as if all had seen equally many columns: m = (m1 + m2) / 2. Right where cols
// is a multiple of the block.
// Caught by: T1, cols no multiple of 128.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/layernorm_residual.hpp"

namespace assay::ROOM(layernorm_residual, unequal_counts_merged) {

inline constexpr int kThreads = 128;

KERNEL(layernorm_residual){
    .dtypes = {f16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}},
};

template <class T>
__global__ void unequal_counts_merged(const T* x, const T* residual, const T* gamma, const T* beta, T* y, std::int64_t cols,
                                      std::int64_t x_stride, std::int64_t residual_stride, std::int64_t y_stride, float epsilon) {
  const std::int64_t row = blockIdx.x;
  x += row * x_stride, residual += row * residual_stride, y += row * y_stride;
  float* const partial = shared_memory<float>();

  // Each thread by Welford's recurrence, then pairs by Chan's formula.
  float own = 0, m2 = 0, seen = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) {
    const float d = to_float(ld(x + c)) - own;
    seen += 1.0f;
    own += d / seen;
    m2 = fmaf(d, to_float(ld(x + c)) - own, m2);
  }
  const int thread = static_cast<int>(threadIdx.x);
  float* const squares = partial + kThreads;
  st(partial + thread, own), st(squares + thread, m2);
  sync_block();
  float count = static_cast<float>(cols) / kThreads;
  for (int half = kThreads / 2; half > 0; half /= 2, count *= 2.0f) {
    if (thread < half) {
      const float a = ld(partial + thread), b = ld(partial + thread + half);
      st(squares + thread, ld(squares + thread) + ld(squares + thread + half) + (a - b) * (a - b) * count / 2.0f);
      st(partial + thread, (a + b) / 2.0f);
    }
    sync_block();
  }

  const float mean = ld(partial), r = 1.0f / sqrtf(ld(squares) / static_cast<float>(cols) + epsilon);

  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) {
    const float normalised = fmaf((to_float(ld(x + c)) - mean) * r, to_float(ld(gamma + c)), to_float(ld(beta + c)));
    st(y + c, from_float<T>(normalised + to_float(ld(residual + c))));
  }
}

void run(const layernorm_residual::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(unequal_counts_merged<T>, {.grid = dim3(rows), .block = dim3(kThreads), .shared_bytes = 2 * kThreads * sizeof(float)},
           l.stream, a.x.as<T>(), a.residual.as<T>(), a.gamma.as<T>(), a.beta.as<T>(), a.y.as<T>(), cols, a.x.stride[0],
           a.residual.stride[0], a.y.stride[0], static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(layernorm_residual, unequal_counts_merged)
