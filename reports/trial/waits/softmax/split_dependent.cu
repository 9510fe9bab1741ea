// SPDX-License-Identifier: Apache-2.0
// SOUND: statistics of each row in one launch, the quotients in a dependent one, whose thread 0 waits for all; a block barrier follows.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, split_dependent) {

inline constexpr int kThreads = 256;

std::size_t scratch(const softmax::Args& a) { return static_cast<std::size_t>(a.x.shape[0]) * 2 * sizeof(float); }

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .min_arch = 90,
    .tiles = {tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}},
    .workspace_bytes = scratch,
};

template <class T>
__global__ void statistics(const T* x, float* stats, std::int64_t cols, std::int64_t x_stride) {
  next_grid_may_start();
  float* partial = shared_memory<float>();
  const T* row = x + blockIdx.x * x_stride;
  float max = -INFINITY, sum = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) max = fmaxf(max, to_float(ld(row + c)));
  max = block_max(max, partial);
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) sum += expf(to_float(ld(row + c)) - max);
  sum = block_sum(sum, partial);
  if (threadIdx.x == 0) {
    st(stats + 2 * static_cast<std::int64_t>(blockIdx.x), max);
    st(stats + 2 * static_cast<std::int64_t>(blockIdx.x) + 1, sum);
  }
}

// A block for each row, walking over its columns; the first column of each thread is fetched before the wait.
template <class T>
__global__ void quotients(const T* x, const float* stats, T* y, std::int64_t cols, std::int64_t x_stride, std::int64_t y_stride) {
  const T* in = x + blockIdx.x * x_stride;
  T* out = y + blockIdx.x * y_stride;
  std::int64_t c = threadIdx.x;
  float v = c < cols ? to_float(ld(in + c)) : 0.0f;
  if (threadIdx.x == 0) wait_for_previous_grid();
  sync_block();
  const float max = ld(stats + 2 * static_cast<std::int64_t>(blockIdx.x));
  const float sum = ld(stats + 2 * static_cast<std::int64_t>(blockIdx.x) + 1);
  while (c < cols) {
    st(out + c, from_float<T>(expf(v - max) / sum));
    c += kThreads;
    if (c < cols) v = to_float(ld(in + c));
  }
}

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const dim3 grid(static_cast<unsigned>(rows)), block(kThreads);
    float* stats = static_cast<float*>(l.workspace);
    launch(statistics<T>, {.grid = grid, .block = block, .shared_bytes = kWarp * sizeof(float)}, l.stream, a.x.as<T>(), stats, cols,
           a.x.stride[0]);
    launch(quotients<T>, {.grid = grid, .block = block, .dependent = true}, l.stream, a.x.as<T>(), stats, a.y.as<T>(), cols,
           a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, split_dependent)
