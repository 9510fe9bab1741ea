// SPDX-License-Identifier: Apache-2.0
// A row a thread, column after column in one chain; logsumexp keeps a maximum and a sum, rescaled whenever the maximum grows.
#include "cuda/core/kernel.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, row_a_thread) {

inline constexpr int kThreads = 32;

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .rescales = {.lanes = 1}},
};

template <class T>
__global__ void row_reduce_row_a_thread(const T* x, float* y, std::int64_t rows, std::int64_t cols, std::int64_t stride,
                                        Reduction what) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= rows) return;
  x += row * stride;
  float max = -INFINITY, sum = 0;
  bool nan = false;
  for (std::int64_t c = 0; c < cols; ++c) {
    const float v = to_float(ld(x + c));
    if (what == Reduction::sum) {
      sum += v;
    } else if (what == Reduction::sum_of_squares) {
      sum = fmaf(v, v, sum);
    } else if (v != v) {
      nan = true;
    } else if (v > max) {
      if (what == Reduction::logsumexp) sum = fmaf(sum, expf(max - v), 1.0f);
      max = v;
    } else if (what == Reduction::logsumexp && max < INFINITY && v > -INFINITY) {
      sum += expf(v - max);
    }
  }
  float result = sum;
  if (what == Reduction::max || what == Reduction::logsumexp) {
    result = max;
    if (what == Reduction::logsumexp && fabsf(max) < INFINITY) result = max + logf(sum);
    if (nan) result = NAN;
  }
  st(y + row, result);
}

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(row_reduce_row_a_thread<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)}, l.stream, a.x.as<T>(),
           a.y.as<float>(), rows, a.x.shape[1], a.x.stride[0], a.what);
  });
}

}  // namespace assay::ROOM(row_reduce, row_a_thread)
