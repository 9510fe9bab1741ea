// SPDX-License-Identifier: Apache-2.0
// What most broken kernels of this room share: one thread an output, for any layout.  The steps are right; a kernel replaces one.
#pragma once

#include "cuda/core/kernel.cuh"
#include "ops/rmsnorm_gemm.hpp"

namespace assay::ASSAY_FLAVOUR::rmsnorm_gemm_room {

inline constexpr int kPlainThreads = 64;

template <class T>
struct Operands {
  const T *x, *gamma, *weight;
  T* y;
  std::int64_t hidden, out, x_stride, weight_stride, y_stride;
  float epsilon;
  __device__ float x_at(std::int64_t token, std::int64_t h) const { return to_float(ld(x + token * x_stride + h)); }
  __device__ float gamma_at(std::int64_t h) const { return to_float(ld(gamma + h)); }
};

template <class T>
struct Plain {
  // Of the first `channels` channels.
  __device__ static float squares_of(const Operands<T>& p, std::int64_t token, std::int64_t channels) {
    float squares = 0;
    for (std::int64_t h = 0; h < channels; ++h) squares = fmaf(p.x_at(token, h), p.x_at(token, h), squares);
    return squares;
  }
  __device__ static float squares(const Operands<T>& p, std::int64_t token) { return squares_of(p, token, p.hidden); }
  // r = 1 / root.
  __device__ static float inverse(const Operands<T>& p, float squares) {
    return 1.0f / sqrtf(squares / static_cast<float>(p.hidden) + p.epsilon);
  }
  // sum + x r gamma w, of channel h.
  __device__ static float add_term(const Operands<T>& p, float sum, float x, float r, float w, std::int64_t h) {
    return fmaf(x * r * p.gamma_at(h), w, sum);
  }
  // y from the sum.
  __device__ static float result(const Operands<T>&, float sum, float, std::int64_t, std::int64_t) { return sum; }
};

template <class T, class F>
__global__ void rmsnorm_gemm_plain(Operands<T> p) {
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x;
  if (o >= p.out) return;
  const float r = F::inverse(p, F::squares(p, token));
  float sum = 0;
  for (std::int64_t h = 0; h < p.hidden; ++h)
    sum = F::add_term(p, sum, p.x_at(token, h), r, to_float(ld(p.weight + o * p.weight_stride + h)), h);
  st(p.y + token * p.y_stride + o, from_float<T>(F::result(p, sum, r, token, o)));
}

// F<T> is a Plain<T>.
template <template <class> class F>
void run_plain(const rmsnorm_gemm::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1];
  if (tokens == 0 || out == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p{a.x.as<T>(), a.gamma.as<T>(), a.weight.as<T>(),   a.y.as<T>(),   a.x.shape[1],
                        out,         a.x.stride[0],   a.weight.stride[0], a.y.stride[0], static_cast<float>(a.epsilon)};
    launch(rmsnorm_gemm_plain<T, F<T>>, {.grid = dim3(tokens, ceil_div(out, kPlainThreads)), .block = dim3(kPlainThreads)},
           l.stream, p);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::rmsnorm_gemm_room
