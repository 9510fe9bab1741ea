// SPDX-License-Identifier: Apache-2.0
// FAULT: the token is brought to shared memory by all threads of the block and read without a barrier.
// Caught by: T1 in an order that lets a reader be first; the watch as a race. More than one channel.
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/gemm_swiglu.hpp"

namespace assay::ROOM(gemm_swiglu, missing_barrier) {

inline constexpr int kThreads = 64;

KERNEL(gemm_swiglu){
    .dtypes = {f16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::ffn, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void missing_barrier(const T* x, const T* w_gate, const T* w_up, T* y, std::int64_t hidden, std::int64_t ffn,
                                std::int64_t x_stride, std::int64_t gate_stride, std::int64_t up_stride, std::int64_t y_stride) {
  const std::int64_t token = blockIdx.x, f = static_cast<std::int64_t>(blockIdx.y) * kThreads + threadIdx.x;
  float* const kept = shared_memory<float>();  // [hidden]
  for (std::int64_t h = threadIdx.x; h < hidden; h += kThreads) st(kept + h, to_float(ld(x + token * x_stride + h)));
  if (f >= ffn) return;
  w_gate += f * gate_stride, w_up += f * up_stride;
  float gate = 0, up = 0;
  for (std::int64_t h = 0; h < hidden; ++h) {
    gate = fmaf(ld(kept + h), to_float(ld(w_gate + h)), gate);
    up = fmaf(ld(kept + h), to_float(ld(w_up + h)), up);
  }
  st(y + token * y_stride + f, from_float<T>(silu(gate) * up));
}

void run(const gemm_swiglu::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], ffn = a.y.shape[1], hidden = a.x.shape[1];
  if (tokens == 0 || ffn == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(missing_barrier<T>,
           {.grid = dim3(tokens, ceil_div(ffn, kThreads)),
            .block = dim3(kThreads),
            .shared_bytes = static_cast<std::size_t>(hidden) * sizeof(float)},
           l.stream, a.x.as<T>(), a.w_gate.as<T>(), a.w_up.as<T>(), a.y.as<T>(), hidden, ffn, a.x.stride[0], a.w_gate.stride[0],
           a.w_up.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(gemm_swiglu, missing_barrier)
