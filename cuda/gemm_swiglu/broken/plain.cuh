// SPDX-License-Identifier: Apache-2.0
// What most broken kernels of this room share: one thread an output, for any layout.  The steps are right; a kernel replaces one.
#pragma once

#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/gemm_swiglu.hpp"

namespace assay::ASSAY_FLAVOUR::gemm_swiglu_room {

inline constexpr int kPlainThreads = 64;

template <class T>
struct Operands {
  const T *x, *w_gate, *w_up;
  T* y;
  std::int64_t hidden, ffn, x_stride, gate_stride, up_stride, y_stride;
};

template <class T>
struct Plain {
  // Of a row of x and a row of a weight.
  __device__ static float product(const T* x, const T* w, std::int64_t hidden) {
    float sum = 0;
    for (std::int64_t h = 0; h < hidden; ++h) sum = fmaf(to_float(ld(x + h)), to_float(ld(w + h)), sum);
    return sum;
  }
  // The row of w_up for feature f.
  __device__ static const T* up_row(const Operands<T>& p, std::int64_t f) { return p.w_up + f * p.up_stride; }
  // y of feature f.
  __device__ static float value(const Operands<T>&, float gate, float up, std::int64_t) { return silu(gate) * up; }
};

template <class T, class F>
__global__ void gemm_swiglu_plain(Operands<T> p) {
  const std::int64_t token = blockIdx.x, f = static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x;
  if (f >= p.ffn) return;
  const T* const x = p.x + token * p.x_stride;
  const float gate = F::product(x, p.w_gate + f * p.gate_stride, p.hidden), up = F::product(x, F::up_row(p, f), p.hidden);
  st(p.y + token * p.y_stride + f, from_float<T>(F::value(p, gate, up, f)));
}

// F<T> is a Plain<T>.
template <template <class> class F>
void run_plain(const gemm_swiglu::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], ffn = a.y.shape[1];
  if (tokens == 0 || ffn == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p{a.x.as<T>(), a.w_gate.as<T>(), a.w_up.as<T>(),     a.y.as<T>(),      a.x.shape[1],
                        ffn,         a.x.stride[0],    a.w_gate.stride[0], a.w_up.stride[0], a.y.stride[0]};
    launch(gemm_swiglu_plain<T, F<T>>, {.grid = dim3(tokens, ceil_div(ffn, kPlainThreads)), .block = dim3(kPlainThreads)},
           l.stream, p);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::gemm_swiglu_room
