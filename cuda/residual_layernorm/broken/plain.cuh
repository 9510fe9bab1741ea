// SPDX-License-Identifier: Apache-2.0
// The steps of a plain kernel (core/kernel_family.cuh): a block a row, two passes, each of which makes the sum again, for any
// layout.
#pragma once

#include "cuda/core/kernel_family.cuh"
#include "cuda/core/row_norm.cuh"
#include "ops/residual_layernorm.hpp"

namespace assay::ASSAY_FLAVOUR::residual_layernorm_room {

inline constexpr int kPlainThreads = 128;
template <class T>
using Rows = row_norm::Matrices<T, residual_layernorm::Args>;

// Every step as it should be.
template <class T>
struct Plain {
  static __device__ T* s_of(const Rows<T>& m, std::int64_t row) { return m.s + row * m.s_stride; }
  // What is stored in s, and what is normalised.
  static __device__ T stored(float x, float residual) { return from_float<T>(x + residual); }
  static __device__ float normed(float x, float residual) { return to_float(from_float<T>(x + residual)); }
  static __device__ float output(float normalised, float /*residual*/) { return normalised; }
};

template <class T, class S>
__global__ void residual_layernorm_plain(Rows<T> m) {
  const std::int64_t row = blockIdx.x;
  const T* const x = m.x + row * m.x_stride;
  const T* const residual = m.residual + row * m.residual_stride;
  T* const s = S::s_of(m, row);
  T* const y = m.y + row * m.y_stride;
  float* const partial = shared_memory<float>();
  const auto normed = [&](std::int64_t c) { return S::normed(to_float(ld(x + c)), to_float(ld(residual + c))); };

  float sum = 0;
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads) {
    st(s + c, S::stored(to_float(ld(x + c)), to_float(ld(residual + c))));
    sum += normed(c);
  }
  const float mean = block_sum(sum, partial) / static_cast<float>(m.cols);

  float squares = 0;
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads) {
    const float d = normed(c) - mean;
    squares = fmaf(d, d, squares);
  }
  const float r = 1.0f / sqrtf(block_sum(squares, partial) / static_cast<float>(m.cols) + m.epsilon);

  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads) {
    const float normalised = fmaf((normed(c) - mean) * r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)));
    st(y + c, from_float<T>(S::output(normalised, to_float(ld(residual + c)))));
  }
}

template <template <class> class S>
constexpr KernelTraits<residual_layernorm> plain_traits(DTypes dtypes = kEveryType) {
  return {.dtypes = dtypes,
          .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
          .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}}};
}

template <template <class> class S>
void run_plain(const residual_layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(residual_layernorm_plain<T, S<T>>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = row_norm::kScratchBytes}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ASSAY_FLAVOUR::residual_layernorm_room
