// SPDX-License-Identifier: Apache-2.0
// The steps of a plain kernel (core/kernel_family.cuh): a block a row, for any layout; the maximum, the sum, and y, each from x
// again.
#pragma once

#include "cuda/core/kernel_family.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/softmax.hpp"

namespace assay::ASSAY_FLAVOUR::softmax_room {

inline constexpr int kPlainThreads = 128;

template <class T>
struct Matrices {
  const T* x;
  T* y;
  std::int64_t rows, cols, x_stride, y_stride;
};

// What a row is divided by, and what is taken off before.
struct Sum {
  float max, sum;
};

// Every step as it should be.
template <class T>
struct Plain {
  static constexpr int kLanes = kPlainThreads, kExtra = 10;  // threads of a row, and additions of group_sum
  static constexpr std::size_t kSharedBytes = kWarp * sizeof(float);

  // The column that is taken when the c-th would be.
  static __device__ std::int64_t taken(std::int64_t c, std::int64_t /*cols*/) { return c; }
  static __device__ float exponential(float v) { return expf(v); }
  template <class S>
  static __device__ float term(float v, float max) {
    return S::exponential(v - max);
  }
  static __device__ float group_max(float v) { return block_max(v, shared_memory<float>()); }
  static __device__ float group_sum(float v) { return block_sum(v, shared_memory<float>()); }
  template <class S>
  static __device__ Sum sum(const T* x, std::int64_t cols, std::int64_t lane) {
    float max = -INFINITY, sum = 0;
    for (std::int64_t c = lane; c < cols; c += S::kLanes) max = fmaxf(max, to_float(ld(x + S::taken(c, cols))));
    max = S::group_max(max);
    for (std::int64_t c = lane; c < cols; c += S::kLanes) sum += S::template term<S>(to_float(ld(x + S::taken(c, cols))), max);
    return {max, S::group_sum(sum)};
  }
  static __device__ float quotient(float term, const Sum& by) { return term / by.sum; }
};

template <class T, class S>
__global__ void softmax_plain(Matrices<T> m) {
  const unsigned thread = threadIdx.x;
  const std::int64_t row = blockIdx.x * std::int64_t{kPlainThreads / S::kLanes} + thread / S::kLanes, lane = thread % S::kLanes;
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;
  const Sum by = S::template sum<S>(x, m.cols, lane);
  for (std::int64_t c = lane; c < m.cols; c += S::kLanes) {
    const std::int64_t col = S::taken(c, m.cols);
    st(y + col, from_float<T>(S::quotient(S::template term<S>(to_float(ld(x + col)), by.max), by)));
  }
}

template <template <class> class S>
constexpr KernelTraits<softmax> plain_traits(DTypes dtypes = kEveryType) {
  constexpr int kLanes = S<float>::kLanes;
  return {.dtypes = dtypes,
          .tiles = {tile(Axis::rows, kPlainThreads / kLanes), tile(Axis::cols, kLanes)},
          .numerics = {.accumulate = f32, .chain = {.lanes = kLanes, .extra = S<float>::kExtra}}};
}

template <template <class> class S>
void run_plain(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(softmax_plain<T, S<T>>,
           {.grid = dim3(ceil_div(rows, kPlainThreads / S<T>::kLanes)),
            .block = dim3(kPlainThreads),
            .shared_bytes = S<T>::kSharedBytes},
           l.stream, Matrices<T>{a.x.as<T>(), a.y.as<T>(), rows, cols, a.x.stride[0], a.y.stride[0]});
  });
}

}  // namespace assay::ASSAY_FLAVOUR::softmax_room
