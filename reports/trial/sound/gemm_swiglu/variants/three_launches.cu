// SPDX-License-Identifier: Apache-2.0
// The products one after the other, each written to the workspace in the dtype, then silu(gate) up element by element.
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/gemm_swiglu.hpp"

namespace assay::ROOM(gemm_swiglu, three_launches) {

inline constexpr int kThreads = 96;

std::size_t workspace_bytes(const gemm_swiglu::Args& a) {
  return static_cast<std::size_t>(2 * a.y.shape[0] * a.y.shape[1] * size_of(a.y.dtype));
}
// Two sums a product, of the even and of the odd channels.
KERNEL(gemm_swiglu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::ffn, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 2, .extra = 1}, .stores_intermediate = true},
    .workspace_bytes = workspace_bytes,
};

template <class T>
__global__ void gemm_swiglu_one_product(const T* x, const T* w, T* z, std::int64_t all, std::int64_t hidden, std::int64_t ffn,
                                        std::int64_t x_stride, std::int64_t w_stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= all) return;
  x += i / ffn * x_stride, w += i % ffn * w_stride;
  float even = 0, odd = 0;
  std::int64_t h = 0;
  for (; h + 1 < hidden; h += 2) {
    even = fmaf(to_float(ld(x + h)), to_float(ld(w + h)), even);
    odd = fmaf(to_float(ld(x + h + 1)), to_float(ld(w + h + 1)), odd);
  }
  if (h < hidden) even = fmaf(to_float(ld(x + h)), to_float(ld(w + h)), even);
  st(z + i, from_float<T>(even + odd));
}

template <class T>
__global__ void gemm_swiglu_gated(const T* gate, const T* up, T* y, std::int64_t all, std::int64_t ffn, std::int64_t y_stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < all) st(y + i / ffn * y_stride + i % ffn, from_float<T>(silu(to_float(ld(gate + i))) * to_float(ld(up + i))));
}

void run(const gemm_swiglu::Args& a, const Launch& l) {
  const std::int64_t all = a.y.size(), hidden = a.x.shape[1], ffn = a.y.shape[1];
  if (all == 0) return;
  const dim3 grid(ceil_div(all, kThreads)), block(kThreads);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    T* const gate = static_cast<T*>(l.workspace);
    T* const up = gate + all;
    launch(gemm_swiglu_one_product<T>, {.grid = grid, .block = block}, l.stream, a.x.as<T>(), a.w_gate.as<T>(), gate, all, hidden,
           ffn, a.x.stride[0], a.w_gate.stride[0]);
    launch(gemm_swiglu_one_product<T>, {.grid = grid, .block = block}, l.stream, a.x.as<T>(), a.w_up.as<T>(), up, all, hidden,
           ffn, a.x.stride[0], a.w_up.stride[0]);
    launch(gemm_swiglu_gated<T>, {.grid = grid, .block = block}, l.stream, gate, up, a.y.as<T>(), all, ffn, a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(gemm_swiglu, three_launches)
