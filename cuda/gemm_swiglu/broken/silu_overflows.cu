// SPDX-License-Identifier: Apache-2.0
// FAULT: silu as gate e^gate / (1 + e^gate): inf / inf from gate = 88.7 on.
// Caught by: the class of the result, where gates are large (probe_gates, unit_outlier).
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, silu_overflows) {

KERNEL(gemm_swiglu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::ffn, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float value(const Operands<T>&, float gate, float up, std::int64_t) {
    const float e = expf(gate);
    return gate * e / (1.0f + e) * up;
  }
};

void run(const gemm_swiglu::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(gemm_swiglu, silu_overflows)
