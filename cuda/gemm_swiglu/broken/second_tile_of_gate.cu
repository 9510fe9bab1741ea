// SPDX-License-Identifier: Apache-2.0
// FAULT: from the second tile of features on, up is multiplied with rows of w_gate.
// Caught by: T1, with more than 64 features.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, second_tile_of_gate) {

KERNEL(gemm_swiglu){
    .dtypes = {f16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::ffn, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static const T* up_row(const Operands<T>& p, std::int64_t f) {
    return f < kPlainThreads ? Plain<T>::up_row(p, f) : p.w_gate + f * p.gate_stride;
  }
};

void run(const gemm_swiglu::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(gemm_swiglu, second_tile_of_gate)
