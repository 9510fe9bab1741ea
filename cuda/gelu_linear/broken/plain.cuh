// SPDX-License-Identifier: Apache-2.0
// What most broken kernels of this room share: one thread an output, for any layout.  The steps are right; a kernel replaces one.
#pragma once

#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
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

template <class T>
struct Plain {
  __device__ static float product(const Operands<T>& p, std::int64_t token, std::int64_t o) {
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h) sum = fmaf(p.x_at(token, h), p.weight_at(o, h), sum);
    return sum;
  }
  __device__ static float add_bias(const Operands<T>& p, float sum, std::int64_t o) {
    return p.bias != nullptr ? sum + p.bias_at(o) : sum;
  }
  __device__ static float gelu(const Operands<T>& p, float z, std::int64_t) { return p.erf_form ? gelu_erf(z) : gelu_tanh(z); }
};

template <class T, class F>
__global__ void gelu_linear_plain(Operands<T> p) {
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x;
  if (o >= p.out) return;
  const float z = F::add_bias(p, F::product(p, token, o), o);
  st(p.y + token * p.y_stride + o, from_float<T>(F::gelu(p, z, o)));
}

// F<T> is a Plain<T>.
template <template <class> class F>
void run_plain(const gelu_linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1];
  if (tokens == 0 || out == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p{a.x.as<T>(),
                        a.weight.as<T>(),
                        a.bias.as<T>(),
                        a.y.as<T>(),
                        tokens,
                        a.x.shape[1],
                        out,
                        a.x.stride[0],
                        a.weight.stride[0],
                        a.y.stride[0],
                        a.form == Activation::gelu_erf};
    launch(gelu_linear_plain<T, F<T>>, {.grid = dim3(tokens, ceil_div(out, kPlainThreads)), .block = dim3(kPlainThreads)},
           l.stream, p);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::gelu_linear_room
