// SPDX-License-Identifier: Apache-2.0
// FAULT: the maximum by fmaxf, which prefers any number to a NaN.
// Caught by: the class of the result with what=max on nan_in_row.
#include "cuda/core/fold.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, nan_lost) {

inline constexpr int kThreads = 128;

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}, .rescales = {.lanes = kThreads, .extra = 10}},
};

struct Fmax {
  float value = -INFINITY;
  template <int N>
  __device__ void add(const float (&v)[N]) {
    for (int j = 0; j < N; ++j) value = fmaxf(value, v[j]);
  }
  __device__ void join(const Fmax& other) { value = fmaxf(value, other.value); }
  __device__ Fmax of_lane(int delta) const { return {shuffle_down(value, delta)}; }
  __device__ float result() const { return value; }
};

template <class Fold, class T>
__device__ void reduce(const T* x, float* y, std::int64_t cols) {
  Fold f;
  fold::take_packs<1, 1>(f, x, threadIdx.x, cols, kThreads);
  f = fold::join_block(f, shared_memory<Fold>());
  if (threadIdx.x == 0) st(y + blockIdx.x, f.result());
}

template <class T>
__global__ void nan_lost(const T* x, float* y, std::int64_t cols, std::int64_t stride, Reduction what) {
  x += blockIdx.x * stride;
  if (what == Reduction::sum) reduce<fold::Sum>(x, y, cols);
  else if (what == Reduction::max) reduce<Fmax>(x, y, cols);
  else if (what == Reduction::logsumexp) reduce<fold::LogSumExp>(x, y, cols);
  else reduce<fold::SumOfSquares>(x, y, cols);
}

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(nan_lost<T>,
           {.grid = dim3(rows), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(fold::LogSumExp)},
           l.stream, a.x.as<T>(), a.y.as<float>(), a.x.shape[1], a.x.stride[0], a.what);
  });
}

}  // namespace assay::ROOM(row_reduce, nan_lost)
