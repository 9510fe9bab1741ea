// SPDX-License-Identifier: Apache-2.0
// FAULT: gate is rounded to the storage dtype before silu and the declaration does not say so.
// Caught by: the bound, where silu amplifies: gate far below 0.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, rounded_gate) {

KERNEL(gemm_swiglu){
    .dtypes = {f16, bf16},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::ffn, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float value(const Operands<T>&, float gate, float up, std::int64_t) {
    return silu(to_float(from_float<T>(gate))) * up;
  }
};

void run(const gemm_swiglu::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(gemm_swiglu, rounded_gate)
