// SPDX-License-Identifier: Apache-2.0
// The steps of a plain kernel (core/kernel_family.cuh): a block a row, for any layout; s, the squares of s,
// and y from s, or with sum=f32 those of the sum before it was rounded.
#pragma once

#include "cuda/core/kernel_family.cuh"
#include "cuda/core/row_norm.cuh"
#include "ops/residual_rmsnorm.hpp"

namespace assay::ASSAY_FLAVOUR::residual_rmsnorm_room {

inline constexpr int kPlainThreads = 128;
template <class T>
using Rows = row_norm::Matrices<T, residual_rmsnorm::Args>;

// Every step as it should be.
template <class T>
struct Plain {
  static constexpr std::size_t kSharedBytes = row_norm::kScratchBytes;
  // 1 / root, in every thread.
  static __device__ float handed_out(float r) { return r; }
};

template <class T, class S>
__global__ void residual_rmsnorm_plain(Rows<T> m, bool sum_in_f32) {
  const std::int64_t row = blockIdx.x;
  const T* const x = m.x + row * m.x_stride;
  const T* const residual = m.residual + row * m.residual_stride;
  T* const s = m.s + row * m.s_stride;
  T* const y = m.y + row * m.y_stride;

  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads)
    st(s + c, from_float<T>(to_float(ld(x + c)) + to_float(ld(residual + c))));

  const auto summed = [&](std::int64_t c) {
    return sum_in_f32 ? to_float(ld(x + c)) + to_float(ld(residual + c)) : to_float(ld(s + c));
  };
  float squares = 0;
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads) {
    const float v = summed(c);
    squares = fmaf(v, v, squares);
  }
  const float all = block_sum(squares, shared_memory<float>());
  const float r = S::handed_out(1.0f / sqrtf(all / static_cast<float>(m.cols) + m.epsilon));

  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads)
    st(y + c, from_float<T>(summed(c) * r * to_float(ld(m.gamma + c))));
}

template <template <class> class S>
constexpr KernelTraits<residual_rmsnorm> plain_traits(DTypes dtypes = kEveryType) {
  return {.dtypes = dtypes,
          .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
          .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}}};
}

template <template <class> class S>
void run_plain(const residual_rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(residual_rmsnorm_plain<T, S<T>>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = S<T>::kSharedBytes}, l.stream,
           row_norm::matrices<T>(a), a.sum == NormedSum::in_f32);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::residual_rmsnorm_room
