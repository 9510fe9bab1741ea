// SPDX-License-Identifier: Apache-2.0
// FAULT: sums and sums of squares are kept in the storage dtype. Right in f32, and for few columns.
// Caught by: the bound in f16 and bf16 on stagnation, and on any long row; near_max, whose squares f16 does not hold.
#include "cuda/core/fold.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, half_accumulator) {

inline constexpr int kThreads = 128;

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}, .rescales = {.lanes = kThreads, .extra = 10}},
};

template <class T, bool kSquares>
struct Narrow {
  float value = 0;  // always one of T
  template <int N>
  __device__ void add(const float (&v)[N]) {
    for (int j = 0; j < N; ++j) value = to_float(from_float<T>(value + (kSquares ? v[j] * v[j] : v[j])));
  }
  __device__ void join(const Narrow& other) { value = to_float(from_float<T>(value + other.value)); }
  __device__ Narrow of_lane(int delta) const { return {shuffle_down(value, delta)}; }
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
__global__ void half_accumulator(const T* x, float* y, std::int64_t cols, std::int64_t stride, Reduction what) {
  x += blockIdx.x * stride;
  if (what == Reduction::sum) reduce<Narrow<T, false>>(x, y, cols);
  else if (what == Reduction::max) reduce<fold::Max>(x, y, cols);
  else if (what == Reduction::logsumexp) reduce<fold::LogSumExp>(x, y, cols);
  else reduce<Narrow<T, true>>(x, y, cols);
}

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(half_accumulator<T>,
           {.grid = dim3(rows), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(fold::LogSumExp)},
           l.stream, a.x.as<T>(), a.y.as<float>(), a.x.shape[1], a.x.stride[0], a.what);
  });
}

}  // namespace assay::ROOM(row_reduce, half_accumulator)
