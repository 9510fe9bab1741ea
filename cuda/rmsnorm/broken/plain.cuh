// SPDX-License-Identifier: Apache-2.0
// The steps of a plain kernel (core/kernel_family.cuh): a block a row, for any layout.
#pragma once

#include "cuda/core/kernel_family.cuh"
#include "cuda/core/row_norm.cuh"
#include "ops/rmsnorm.hpp"

namespace assay::ASSAY_FLAVOUR::rmsnorm_room {

inline constexpr int kPlainThreads = 128;
template <class T>
using Rows = row_norm::Matrices<T, rmsnorm::Args>;

// Every step as it should be.
template <class T>
struct Plain {
  // The sum over the row x.
  __device__ static float squares(const Rows<T>& m, const T* x) {
    float squares = 0;
    for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads)
      squares = fmaf(to_float(ld(x + c)), to_float(ld(x + c)), squares);
    return block_sum(squares, shared_memory<float>());
  }
  // 1 / root.
  __device__ static float inverse(const Rows<T>& m, float squares) {
    return 1.0f / sqrtf(squares / static_cast<float>(m.cols) + m.epsilon);
  }
  __device__ static float scaled(float x, float r, float gamma) { return x * r * gamma; }
};

template <class T, class F>
__global__ void rmsnorm_plain(Rows<T> m) {
  const T* const x = m.x + blockIdx.x * m.x_stride;
  T* const y = m.y + blockIdx.x * m.y_stride;
  const float r = F::inverse(m, F::squares(m, x));
  for (std::int64_t c = threadIdx.x; c < m.cols; c += blockDim.x)
    st(y + c, from_float<T>(F::scaled(to_float(ld(x + c)), r, to_float(ld(m.gamma + c)))));
}

template <template <class> class F>
constexpr KernelTraits<rmsnorm> plain_traits(DTypes dtypes = kEveryType) {
  return {.dtypes = dtypes,
          .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
          .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}}};
}

template <template <class> class F>
void run_plain(const rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rmsnorm_plain<T, F<T>>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = row_norm::kScratchBytes}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ASSAY_FLAVOUR::rmsnorm_room
