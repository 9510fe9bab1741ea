// SPDX-License-Identifier: Apache-2.0
// The steps of a plain kernel (core/kernel_family.cuh): a block a row, two passes, for any layout.
#pragma once

#include "cuda/core/kernel_family.cuh"
#include "cuda/core/row_norm.cuh"
#include "ops/layernorm.hpp"

namespace assay::ASSAY_FLAVOUR::layernorm_room {

inline constexpr int kPlainThreads = 128;
template <class T>
using Rows = row_norm::Matrices<T, layernorm::Args>;

struct Moments {
  float mean, variance;
};

// Every step as it should be.
template <class T>
struct Plain {
  static __device__ float block_total(float v) { return block_sum(v, shared_memory<float>()); }

  static __device__ float stored_mean(float mean, std::int64_t /*cols*/) { return mean; }
  template <class S>
  static __device__ Moments moments(const T* x, std::int64_t cols) {
    float sum = 0, squares = 0;
    for (std::int64_t c = threadIdx.x; c < cols; c += kPlainThreads) sum += to_float(ld(x + c));
    const float mean = S::stored_mean(block_total(sum) / static_cast<float>(cols), cols);
    for (std::int64_t c = threadIdx.x; c < cols; c += kPlainThreads) {
      const float d = to_float(ld(x + c)) - mean;
      squares = fmaf(d, d, squares);
    }
    return {mean, block_total(squares) / static_cast<float>(cols)};
  }

  static __device__ float affine(float x, float mean, float r, float gamma, float beta) {
    return fmaf((x - mean) * r, gamma, beta);
  }
};

template <class T, class S>
__global__ void layernorm_plain(Rows<T> m) {
  const T* const x = m.x + blockIdx.x * m.x_stride;
  T* const y = m.y + blockIdx.x * m.y_stride;
  const Moments of = S::template moments<S>(x, m.cols);
  const float r = 1.0f / sqrtf(of.variance + m.epsilon);
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads)
    st(y + c, from_float<T>(S::affine(to_float(ld(x + c)), of.mean, r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)))));
}

template <template <class> class S>
constexpr KernelTraits<layernorm> plain_traits(DTypes dtypes = kEveryType) {
  return {.dtypes = dtypes,
          .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
          .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}}};
}

template <template <class> class S>
void run_plain(const layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_plain<T, S<T>>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = row_norm::kScratchBytes}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ASSAY_FLAVOUR::layernorm_room
