// SPDX-License-Identifier: Apache-2.0
// What most broken kernels of this room share: one thread an output, for any layout.  The steps are right; a kernel replaces one.
#pragma once

#include "cuda/core/kernel.cuh"
#include "ops/linear.hpp"

namespace assay::ASSAY_FLAVOUR::linear_room {

inline constexpr int kPlainThreads = 64;

template <class T>
struct Operands {
  const T *x, *weight, *bias;
  T* y;
  std::int64_t tokens, hidden, out, x_stride, weight_stride, y_stride;
  __device__ float x_at(std::int64_t token, std::int64_t h) const { return to_float(ld(x + token * x_stride + h)); }
  __device__ float weight_at(std::int64_t o, std::int64_t h) const { return to_float(ld(weight + o * weight_stride + h)); }
  __device__ float bias_at(std::int64_t o) const { return to_float(ld(bias + o)); }
};
template <class T>
Operands<T> operands_of(const linear::Args& a) {
  return {a.x.as<T>(),  a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(),        a.y.shape[0],
          a.x.shape[1], a.y.shape[1],     a.x.stride[0],  a.weight.stride[0], a.y.stride[0]};
}

template <class T>
struct Plain {
  __device__ static float product(const Operands<T>& p, std::int64_t token, std::int64_t o) {
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h) sum = fmaf(p.x_at(token, h), p.weight_at(o, h), sum);
    return sum;
  }
  __device__ static float add_bias(const Operands<T>& p, float sum, std::int64_t, std::int64_t o) {
    return p.bias != nullptr ? sum + p.bias_at(o) : sum;
  }
};

template <class T, class F>
__global__ void linear_plain(Operands<T> p) {
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x;
  if (o >= p.out) return;
  st(p.y + token * p.y_stride + o, from_float<T>(F::add_bias(p, F::product(p, token, o), token, o)));
}

// F is a Plain<T>.
template <class T, class F>
void launch_plain(const Operands<T>& p, void* stream) {
  if (p.tokens == 0 || p.out == 0) return;
  launch(linear_plain<T, F>, {.grid = dim3(p.tokens, ceil_div(p.out, kPlainThreads)), .block = dim3(kPlainThreads)}, stream, p);
}
template <template <class> class F>
void run_plain(const linear::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) { launch_plain<T, F<T>>(operands_of<T>(a), l.stream); });
}

}  // namespace assay::ASSAY_FLAVOUR::linear_room
