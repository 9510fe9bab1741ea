// SPDX-License-Identifier: Apache-2.0
// The steps of a plain kernel (core/kernel_family.cuh): one thread an output, for any layout.
#pragma once

#include "cuda/core/kernel_family.cuh"
#include "ops/rmsnorm_gemm.hpp"

namespace assay::ASSAY_FLAVOUR::rmsnorm_gemm_room {

inline constexpr int kPlainThreads = 64;

template <class T>
struct Operands {
  const T *x, *gamma, *weight;
  T* y;
  std::int64_t tokens, hidden, out, x_stride, weight_stride, y_stride;
  float epsilon;
  __device__ float x_at(std::int64_t token, std::int64_t h) const { return to_float(ld(x + token * x_stride + h)); }
  __device__ float gamma_at(std::int64_t h) const { return to_float(ld(gamma + h)); }
  __device__ float weight_at(std::int64_t o, std::int64_t h) const { return to_float(ld(weight + o * weight_stride + h)); }
};

// An element of y.
struct Place {
  std::int64_t token, o;
};

// Every step as it should be.
template <class T>
struct Plain {
  static constexpr int kThreads = kPlainThreads;
  static constexpr std::size_t kSharedBytes = 0;
  static constexpr Numerics kNumerics = {.accumulate = f32, .chain = {.lanes = 1}};
  static dim3 grid(const Operands<T>& p, int threads) { return dim3(p.tokens, ceil_div(p.out, threads)); }
  __device__ static Place place() { return {blockIdx.x, static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x}; }

  // The channel that comes i-th, and the sum of squares.
  __device__ static std::int64_t channel(const Operands<T>&, std::int64_t i) { return i; }
  template <class F>
  __device__ static float squares(const Operands<T>& p, std::int64_t token) {
    float squares = 0;
    for (std::int64_t i = 0; i < p.hidden; ++i) {
      const float v = p.x_at(token, F::channel(p, i));
      squares = fmaf(v, v, squares);
    }
    return squares;
  }
  // 1 / root.
  template <class F>
  __device__ static float scale(const Operands<T>& p, std::int64_t token) {
    return 1.0f / sqrtf(F::template squares<F>(p, token) / static_cast<float>(p.hidden) + p.epsilon);
  }

  // sum + x r gamma w.
  __device__ static float added(float sum, float x, float r, float gamma, float w) { return fmaf(x * r * gamma, w, sum); }
};

template <class T, class F>
__global__ void rmsnorm_gemm_plain(Operands<T> p) {
  const Place at = F::place();
  if (at.o >= p.out) return;
  const float r = F::template scale<F>(p, at.token);
  float sum = 0;
  for (std::int64_t i = 0; i < p.hidden; ++i) {
    const std::int64_t h = F::channel(p, i);
    sum = F::added(sum, p.x_at(at.token, h), r, p.gamma_at(h), p.weight_at(at.o, h));
  }
  st(p.y + at.token * p.y_stride + at.o, from_float<T>(sum));
}

template <template <class> class F>
constexpr KernelTraits<rmsnorm_gemm> plain_traits(DTypes dtypes = kEveryType) {
  return {
      .dtypes = dtypes, .tiles = {tile(Axis::tokens, 1), tile(Axis::out, F<float>::kThreads)}, .numerics = F<float>::kNumerics};
}

template <class T>
Operands<T> operands(const rmsnorm_gemm::Args& a) {
  return {a.x.as<T>(),
          a.gamma.as<T>(),
          a.weight.as<T>(),
          a.y.as<T>(),
          a.y.shape[0],
          a.x.shape[1],
          a.y.shape[1],
          a.x.stride[0],
          a.weight.stride[0],
          a.y.stride[0],
          static_cast<float>(a.epsilon)};
}

template <template <class> class F>
void run_plain(const rmsnorm_gemm::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    using S = F<T>;
    const Operands<T> p = operands<T>(a);
    launch(rmsnorm_gemm_plain<T, S>,
           {.grid = S::grid(p, S::kThreads), .block = dim3(S::kThreads), .shared_bytes = S::kSharedBytes}, l.stream, p);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::rmsnorm_gemm_room
