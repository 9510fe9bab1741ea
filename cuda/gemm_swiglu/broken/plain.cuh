// SPDX-License-Identifier: Apache-2.0
// The steps of a plain kernel (core/kernel_family.cuh): one thread an output, for any layout.
#pragma once

#include "cuda/core/activation.cuh"
#include "cuda/core/kernel_family.cuh"
#include "ops/gemm_swiglu.hpp"

namespace assay::ASSAY_FLAVOUR::gemm_swiglu_room {

inline constexpr int kPlainThreads = 64;

template <class T>
struct Operands {
  const T *x, *w_gate, *w_up;
  T* y;
  std::int64_t tokens, hidden, ffn, x_stride, gate_stride, up_stride, y_stride;
};
template <class T>
Operands<T> operands_of(const gemm_swiglu::Args& a) {
  return {a.x.as<T>(),  a.w_gate.as<T>(), a.w_up.as<T>(),     a.y.as<T>(),      a.y.shape[0], a.x.shape[1],
          a.y.shape[1], a.x.stride[0],    a.w_gate.stride[0], a.w_up.stride[0], a.y.stride[0]};
}

// An element of y.
struct Place {
  std::int64_t token, f;
};

// Every step as it should be.
template <class T>
struct Plain {
  static dim3 grid(const Operands<T>& p) { return dim3(p.tokens, ceil_div(p.ffn, kPlainThreads)); }
  static std::size_t shared_bytes(const Operands<T>&) { return 0; }
  __device__ static Place place() { return {blockIdx.x, static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x}; }
  __device__ static void prepare(const Operands<T>&, std::int64_t /*token*/) {}  // by all threads of the block

  // A product of a row of x and a row of a weight: how many channels are summed, the one that comes i-th, the sum with one more.
  __device__ static std::int64_t summed(std::int64_t hidden) { return hidden; }
  __device__ static std::int64_t channel(std::int64_t /*hidden*/, std::int64_t i) { return i; }
  __device__ static float x_at(const T* x, std::int64_t h) { return to_float(ld(x + h)); }
  __device__ static float added(float sum, float x, float w) { return fmaf(x, w, sum); }
  template <class F>
  __device__ static float product(const T* x, const T* w, std::int64_t hidden) {
    float sum = 0;
    for (std::int64_t i = 0; i < F::summed(hidden); ++i) {
      const std::int64_t h = F::channel(hidden, i);
      sum = F::added(sum, F::x_at(x, h), to_float(ld(w + h)));
    }
    return sum;
  }
  // The row of w_up for feature f.
  __device__ static const T* up_row(const Operands<T>& p, std::int64_t f) { return p.w_up + f * p.up_stride; }
  // y of feature f.
  __device__ static float value(const Operands<T>&, float gate, float up, std::int64_t /*f*/) { return silu(gate) * up; }
};

template <class T, class F>
__global__ void gemm_swiglu_plain(Operands<T> p) {
  const auto [token, f] = F::place();
  F::prepare(p, token);
  if (token >= p.tokens || f >= p.ffn) return;
  const T* const x = p.x + token * p.x_stride;
  const float gate = F::template product<F>(x, p.w_gate + f * p.gate_stride, p.hidden);
  const float up = F::template product<F>(x, F::up_row(p, f), p.hidden);
  st(p.y + token * p.y_stride + f, from_float<T>(F::value(p, gate, up, f)));
}

template <template <class> class F>
constexpr KernelTraits<gemm_swiglu> plain_traits(DTypes dtypes = kEveryType) {
  return {.dtypes = dtypes,
          .tiles = {tile(Axis::tokens, 1), tile(Axis::ffn, kPlainThreads)},
          .numerics = {.accumulate = f32, .chain = {.lanes = 1}}};
}

template <template <class> class F>
void run_plain(const gemm_swiglu::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p = operands_of<T>(a);
    const dim3 grid = F<T>::grid(p);
    if (grid.x > 0)
      launch(gemm_swiglu_plain<T, F<T>>, {.grid = grid, .block = dim3(kPlainThreads), .shared_bytes = F<T>::shared_bytes(p)},
             l.stream, p);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::gemm_swiglu_room
