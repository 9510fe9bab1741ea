// SPDX-License-Identifier: Apache-2.0
// FAULT: where sigmoid(gate) is 1 it is taken for silu(gate): the factor gate is missing.
// Caught by: the bound, on gates beyond 20 (fills chosen, unit_outlier, probe_gates).
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, sigmoid_for_silu) {

KERNEL(gemm_swiglu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::ffn, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float value(const Operands<T>&, float gate, float up, std::int64_t) {
    return gate > 20.0f ? up : silu(gate) * up;
  }
};

void run(const gemm_swiglu::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(gemm_swiglu, sigmoid_for_silu)
