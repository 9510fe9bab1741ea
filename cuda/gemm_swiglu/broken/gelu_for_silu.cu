// SPDX-License-Identifier: Apache-2.0
// FAULT: the gate goes through GELU: GEGLU instead of SwiGLU. Right where the gate is saturated, or 0.
// Caught by: T1, on moderate gates (unit, chosen).
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, gelu_for_silu) {

KERNEL(gemm_swiglu){
    .dtypes = {f16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::ffn, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float value(const Operands<T>&, float gate, float up, std::int64_t) {
    return gelu_tanh(gate) * up;
  }
};

void run(const gemm_swiglu::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(gemm_swiglu, gelu_for_silu)
