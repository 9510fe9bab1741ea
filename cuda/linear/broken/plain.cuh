// SPDX-License-Identifier: Apache-2.0
// The steps of a plain kernel (core/kernel_family.cuh): one thread an output, for any layout.
#pragma once

#include "cuda/core/kernel_family.cuh"
#include "ops/linear.hpp"

namespace assay::ASSAY_FLAVOUR::linear_room {

inline constexpr int kPlainThreads = 64;

template <class T>
struct Operands {
  const T *x, *weight, *bias;
  T* y;
  std::int64_t tokens, hidden, out, x_stride, weight_stride, y_stride;
  void* workspace = nullptr;
  __device__ float x_at(std::int64_t token, std::int64_t h) const { return to_float(ld(x + token * x_stride + h)); }
  __device__ float weight_at(std::int64_t o, std::int64_t h) const { return to_float(ld(weight + o * weight_stride + h)); }
  __device__ float bias_at(std::int64_t o) const { return to_float(ld(bias + o)); }
};
template <class T>
Operands<T> operands_of(const linear::Args& a, const Launch& l) {
  return {a.x.as<T>(),  a.weight.as<T>(), a.bias.as<T>(),     a.y.as<T>(),   a.y.shape[0], a.x.shape[1],
          a.y.shape[1], a.x.stride[0],    a.weight.stride[0], a.y.stride[0], l.workspace};
}

// Every step as it should be.
template <class T>
struct Plain {
  static std::size_t workspace_bytes(const linear::Args&) { return 0; }
  static dim3 grid(const Operands<T>& p, int threads) { return dim3(p.tokens, ceil_div(p.out, threads)); }

  // The channel that comes i-th, and the sum with a product more.
  __device__ static std::int64_t channel(const Operands<T>&, std::int64_t i) { return i; }
  __device__ static float added(float sum, float x, float weight) { return fmaf(x, weight, sum); }
  template <class F>
  __device__ static float product(const Operands<T>& p, std::int64_t token, std::int64_t o) {
    float sum = 0;
    for (std::int64_t i = 0; i < p.hidden; ++i) {
      const std::int64_t h = F::channel(p, i);
      sum = F::added(sum, p.x_at(token, h), p.weight_at(o, h));
    }
    return sum;
  }

  __device__ static float add_bias(const Operands<T>& p, float sum, std::int64_t o) {
    return p.bias != nullptr ? sum + p.bias_at(o) : sum;
  }
};

template <class T, class F>
__global__ void linear_plain(Operands<T> p) {
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x;
  if (o >= p.out) return;
  const float sum = F::template product<F>(p, token, o);
  st(p.y + token * p.y_stride + o, from_float<T>(F::add_bias(p, sum, o)));
}

template <template <class> class F>
constexpr KernelTraits<linear> plain_traits(DTypes dtypes = kEveryType) {
  return {.dtypes = dtypes,
          .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
          .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
          .workspace_bytes = F<float>::workspace_bytes};
}

template <template <class> class F>
void run_plain(const linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p = operands_of<T>(a, l);
    launch(linear_plain<T, F<T>>, {.grid = Plain<T>::grid(p, kPlainThreads), .block = dim3(kPlainThreads)}, l.stream, p);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::linear_room
