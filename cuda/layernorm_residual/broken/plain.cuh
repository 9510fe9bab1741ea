// SPDX-License-Identifier: Apache-2.0
// The steps of a plain kernel (core/kernel_family.cuh): a block a row, two passes, for any layout.
#pragma once

#include "cuda/core/kernel_family.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/layernorm_residual.hpp"

namespace assay::ASSAY_FLAVOUR::layernorm_residual_room {

inline constexpr int kPlainThreads = 128;

template <class T>
struct Rows {
  const T *x, *residual, *gamma, *beta;
  T* y;
  std::int64_t rows, cols, x_stride, residual_stride, y_stride;
  float epsilon;
  __device__ float x_at(std::int64_t c) const { return to_float(ld(x + c)); }
};
template <class T>
Rows<T> rows_of(const layernorm_residual::Args& a) {
  return {a.x.as<T>(),
          a.residual.as<T>(),
          a.gamma.as<T>(),
          a.beta.as<T>(),
          a.y.as<T>(),
          a.x.shape[0],
          a.x.shape[1],
          a.x.stride[0],
          a.residual.stride[0],
          a.y.stride[0],
          static_cast<float>(a.epsilon)};
}

struct Moments {
  float mean, variance;
};

// Every step as it should be.
template <class T>
struct Plain {
  static constexpr int kThreads = kPlainThreads, kExtra = 10;  // kExtra: additions of block_total
  static Legality supports(const layernorm_residual::Args&) { return Legality::yes(); }
  static std::size_t shared_bytes(const Rows<T>&) { return kWarp * sizeof(float); }

  __device__ static bool takes_part(const Rows<T>&) { return true; }

  // Which column comes i-th, and a block's sum.
  __device__ static std::int64_t column(const Rows<T>&, std::int64_t i) { return i; }
  __device__ static float block_total(float v) { return block_sum(v, shared_memory<float>()); }
  template <class F>
  __device__ static Moments moments(const Rows<T>& m) {
    float sum = 0, squares = 0;
    for (std::int64_t i = threadIdx.x; i < m.cols; i += F::kThreads) sum += m.x_at(F::column(m, i));
    const float mean = F::block_total(sum) / static_cast<float>(m.cols);
    for (std::int64_t i = threadIdx.x; i < m.cols; i += F::kThreads) {
      const float d = m.x_at(F::column(m, i)) - mean;
      squares = fmaf(d, d, squares);
    }
    return {mean, F::block_total(squares) / static_cast<float>(m.cols)};
  }

  __device__ static float layernorm(const Rows<T>& m, std::int64_t c, float mean, float r) {
    return fmaf((m.x_at(c) - mean) * r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)));
  }
  template <class F>
  __device__ static void write(const Rows<T>& m, float mean, float r) {
    for (std::int64_t c = threadIdx.x; c < m.cols; c += F::kThreads)
      st(m.y + c, from_float<T>(F::layernorm(m, c, mean, r) + to_float(ld(m.residual + c))));
  }
};

template <class T, class F>
__global__ void layernorm_residual_plain(Rows<T> m) {
  if (!F::takes_part(m)) return;
  m.x += blockIdx.x * m.x_stride;
  m.residual += blockIdx.x * m.residual_stride;
  m.y += blockIdx.x * m.y_stride;
  const Moments of = F::template moments<F>(m);
  F::template write<F>(m, of.mean, 1.0f / sqrtf(of.variance + m.epsilon));
}

template <template <class> class F>
constexpr KernelTraits<layernorm_residual> plain_traits(DTypes dtypes = kEveryType) {
  constexpr int kThreads = F<float>::kThreads;
  return {.dtypes = dtypes,
          .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
          .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = F<float>::kExtra}},
          .supports = F<float>::supports};
}

template <template <class> class F>
void run_plain(const layernorm_residual::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Rows<T> m = rows_of<T>(a);
    launch(layernorm_residual_plain<T, F<T>>,
           {.grid = dim3(m.rows), .block = dim3(F<T>::kThreads), .shared_bytes = F<T>::shared_bytes(m)}, l.stream, m);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::layernorm_residual_room
