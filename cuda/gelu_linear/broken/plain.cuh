// SPDX-License-Identifier: Apache-2.0
// The steps of a plain kernel (core/kernel_family.cuh): one thread an output, for any layout.
#pragma once

#include "cuda/core/activation.cuh"
#include "cuda/core/kernel_family.cuh"
#include "ops/gelu_linear.hpp"

namespace assay::ASSAY_FLAVOUR::gelu_linear_room {

inline constexpr int kPlainThreads = 64;

template <class T>
struct Operands {
  const T *x, *weight, *bias;
  T* y;
  std::int64_t tokens, hidden, out, x_stride, weight_stride, y_stride;
  bool erf_form;
  __device__ float x_at(std::int64_t token, std::int64_t h) const { return to_float(ld(x + token * x_stride + h)); }
  __device__ float weight_at(std::int64_t o, std::int64_t h) const { return to_float(ld(weight + o * weight_stride + h)); }
  __device__ float bias_at(std::int64_t o) const { return to_float(ld(bias + o)); }
};

// An element of y.
struct Place {
  std::int64_t token, o;
};

// Every step as it should be.
template <class T>
struct Plain {
  static constexpr bool kCancelling = false;  // as declared
  static dim3 grid(const Operands<T>& p) { return dim3(p.tokens, ceil_div(p.out, kPlainThreads)); }
  __device__ static Place place(const Operands<T>&) {
    return {blockIdx.x, static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x};
  }

  // The sum: what it begins with, the channel that comes i-th, and the sum with a product more.
  __device__ static float first(const Operands<T>&, std::int64_t /*o*/) { return 0; }
  __device__ static std::int64_t channel(const Operands<T>&, std::int64_t i) { return i; }
  __device__ static float added(float sum, float x, float w) { return fmaf(x, w, sum); }
  __device__ static float add_bias(const Operands<T>& p, float sum, std::int64_t o) {
    return p.bias != nullptr ? sum + p.bias_at(o) : sum;
  }
  __device__ static float gelu(const Operands<T>& p, float z, std::int64_t /*o*/) {
    return p.erf_form ? gelu_erf(z) : gelu_tanh(z);
  }
};

template <class T, class F>
__global__ void gelu_linear_plain(Operands<T> p) {
  const auto [token, o] = F::place(p);
  if (token >= p.tokens || o >= p.out) return;
  float sum = F::first(p, o);
  for (std::int64_t i = 0; i < p.hidden; ++i) {
    const std::int64_t h = F::channel(p, i);
    sum = F::added(sum, p.x_at(token, h), p.weight_at(o, h));
  }
  st(p.y + token * p.y_stride + o, from_float<T>(F::gelu(p, F::add_bias(p, sum, o), o)));
}

template <template <class> class F>
constexpr KernelTraits<gelu_linear> plain_traits(DTypes dtypes = kEveryType) {
  return {.dtypes = dtypes,
          .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
          .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .cancelling_gelu = F<float>::kCancelling}};
}

template <template <class> class F>
void run_plain(const gelu_linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p{a.x.as<T>(),
                        a.weight.as<T>(),
                        a.bias.as<T>(),
                        a.y.as<T>(),
                        a.y.shape[0],
                        a.x.shape[1],
                        a.y.shape[1],
                        a.x.stride[0],
                        a.weight.stride[0],
                        a.y.stride[0],
                        a.form == Activation::gelu_erf};
    const dim3 grid = F<T>::grid(p);
    if (grid.x > 0) launch(gelu_linear_plain<T, F<T>>, {.grid = grid, .block = dim3(kPlainThreads)}, l.stream, p);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::gelu_linear_room
