// SPDX-License-Identifier: Apache-2.0
// FAULT: max + log sum exp(x - max) as it stands: with a maximum of inf or -inf that is inf - inf.
// Caught by: the class of the result with what=logsumexp on inf_in_row, neg_inf_in_row of one column, and minus_infinity.
#include "cuda/core/fold.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, infinity_minus_itself) {

inline constexpr int kThreads = 128;

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}, .rescales = {.lanes = kThreads, .extra = 10}},
};

struct AsItStands : fold::LogSumExp {
  __device__ void join(const AsItStands& other) { fold::LogSumExp::join(other); }
  __device__ AsItStands of_lane(int delta) const {
    AsItStands from;
    from.max = shuffle_down(max, delta), from.sum = shuffle_down(sum, delta);
    return from;
  }
  __device__ float result() const { return max + logf(sum * expf(max - max)); }
};

template <class Fold, class T>
__device__ void reduce(const T* x, float* y, std::int64_t cols) {
  Fold f;
  fold::take_packs<1, 1>(f, x, threadIdx.x, cols, kThreads);
  f = fold::join_block(f, shared_memory<Fold>());
  if (threadIdx.x == 0) st(y + blockIdx.x, f.result());
}

template <class T>
__global__ void infinity_minus_itself(const T* x, float* y, std::int64_t cols, std::int64_t stride, Reduction what) {
  x += blockIdx.x * stride;
  if (what == Reduction::sum) reduce<fold::Sum>(x, y, cols);
  else if (what == Reduction::max) reduce<fold::Max>(x, y, cols);
  else if (what == Reduction::logsumexp) reduce<AsItStands>(x, y, cols);
  else reduce<fold::SumOfSquares>(x, y, cols);
}

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(infinity_minus_itself<T>,
           {.grid = dim3(rows), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(fold::LogSumExp)},
           l.stream, a.x.as<T>(), a.y.as<float>(), a.x.shape[1], a.x.stride[0], a.what);
  });
}

}  // namespace assay::ROOM(row_reduce, infinity_minus_itself)
