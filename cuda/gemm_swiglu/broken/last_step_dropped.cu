// SPDX-License-Identifier: Apache-2.0
// FAULT: after at least one full step of 32 channels the rest of the channels are not added.
// Caught by: the bound and probe_gates, where hidden is above 32 and no multiple of it.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, last_step_dropped) {

KERNEL(gemm_swiglu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::ffn, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float product(const T* x, const T* w, std::int64_t hidden) {
    return Plain<T>::product(x, w, hidden < 32 ? hidden : hidden / 32 * 32);
  }
};

void run(const gemm_swiglu::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(gemm_swiglu, last_step_dropped)
