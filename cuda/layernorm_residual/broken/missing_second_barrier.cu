// SPDX-License-Identifier: Apache-2.0
// FAULT: the block's sum returns without a barrier after its result is read, so the first thread into the second sum overwrites
// the mean before the others have read it.  Right for cols = 1, where only that thread has work.
// Caught by: the bound, in the orders that let thread 0 run first (forward, shuffle; mostly right in reverse), any random fill
// with cols > 1; as a shared-memory race wherever races are watched.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/layernorm_residual.hpp"

namespace assay::ROOM(layernorm_residual, missing_second_barrier) {

inline constexpr int kThreads = 128;

KERNEL(layernorm_residual){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 7}},
};

__device__ inline float tree_sum(float v, float* tree) {
  const int thread = static_cast<int>(threadIdx.x);
  st(tree + thread, v);
  sync_block();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (thread < half) st(tree + thread, ld(tree + thread) + ld(tree + thread + half));
    sync_block();
  }
  return ld(tree);
}

template <class T>
__global__ void missing_second_barrier(const T* x, const T* residual, const T* gamma, const T* beta, T* y, std::int64_t cols,
                                       std::int64_t x_stride, std::int64_t residual_stride, std::int64_t y_stride,
                                       float epsilon) {
  const std::int64_t row = blockIdx.x;
  x += row * x_stride, residual += row * residual_stride, y += row * y_stride;
  float* const tree = shared_memory<float>();

  float sum = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) sum += to_float(ld(x + c));
  const float mean = tree_sum(sum, tree) / static_cast<float>(cols);

  float squares = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) {
    const float d = to_float(ld(x + c)) - mean;
    squares = fmaf(d, d, squares);
  }
  const float r = 1.0f / sqrtf(tree_sum(squares, tree) / static_cast<float>(cols) + epsilon);

  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) {
    const float normalised = fmaf((to_float(ld(x + c)) - mean) * r, to_float(ld(gamma + c)), to_float(ld(beta + c)));
    st(y + c, from_float<T>(normalised + to_float(ld(residual + c))));
  }
}

void run(const layernorm_residual::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(missing_second_barrier<T>, {.grid = dim3(rows), .block = dim3(kThreads), .shared_bytes = kThreads * sizeof(float)},
           l.stream, a.x.as<T>(), a.residual.as<T>(), a.gamma.as<T>(), a.beta.as<T>(), a.y.as<T>(), cols, a.x.stride[0],
           a.residual.stride[0], a.y.stride[0], static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(layernorm_residual, missing_second_barrier)
