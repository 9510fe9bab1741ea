// SPDX-License-Identifier: Apache-2.0
// A plain kernel with its steps spelt out, so that a broken kernel or a variant says only the one that it does otherwise:
//   template <class T> struct Wrong : Steps<T> { ...one step... };  run_plain<Wrong>(a, l);
// A block a row, any layout: the maximum, the sum, and y, each from x again.
#pragma once

#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/softmax.hpp"

namespace assay::ASSAY_FLAVOUR::softmax_room {

inline constexpr int kPlainThreads = 128;

// Every step as it should be.
template <class T>
struct Steps {
  // The column that is taken when 0, 1, ... cols - 1 would be.
  static __device__ std::int64_t taken(std::int64_t col, std::int64_t /*cols*/) { return col; }

  static __device__ float first_maximum() { return -INFINITY; }
  static __device__ float base(float max) { return max; }
  static __device__ float exponential(float v, std::int64_t /*row*/) { return expf(v); }
  static __device__ bool counts(float /*term*/) { return true; }
  static __device__ float sum_so_far(float sum) { return sum; }
  static __device__ float waiting(float term) { return term; }  // for its sum
  static __device__ float quotient(float term, float sum) { return term / sum; }
};

template <class T, class S>
__global__ void softmax_plain(const T* x, T* y, std::int64_t cols, std::int64_t x_stride, std::int64_t y_stride) {
  const std::int64_t row = blockIdx.x;
  x += row * x_stride, y += row * y_stride;
  float* const scratch = shared_memory<float>();

  float max = S::first_maximum();
  for (std::int64_t c = threadIdx.x; c < cols; c += kPlainThreads) max = fmaxf(max, to_float(ld(x + S::taken(c, cols))));
  const float base = S::base(block_max(max, scratch));
  const auto term = [&](std::int64_t c) { return S::exponential(to_float(ld(x + S::taken(c, cols))) - base, row); };

  float sum = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kPlainThreads) {
    const float e = term(c);
    if (S::counts(e)) sum = S::sum_so_far(sum + e);
  }
  sum = S::sum_so_far(block_sum(sum, scratch));

  for (std::int64_t c = threadIdx.x; c < cols; c += kPlainThreads)
    st(y + S::taken(c, cols), from_float<T>(S::quotient(S::waiting(term(c)), sum)));
}

template <template <class> class S>
void run_plain(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(softmax_plain<T, S<T>>, {.grid = dim3(rows), .block = dim3(kPlainThreads), .shared_bytes = kWarp * sizeof(float)},
           l.stream, a.x.as<T>(), a.y.as<T>(), cols, a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::softmax_room
