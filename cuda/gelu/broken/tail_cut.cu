// SPDX-License-Identifier: Apache-2.0
// FAULT: zero from x = -4 downwards, where GELU is still -1e-4.
// Caught by: the bound in f32 and bf16, on fill bends.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, tail_cut) {

KERNEL(gelu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
struct Wrong {
  __device__ static float gelu(float z, bool erf_form) {
    const float g = erf_form ? gelu_erf(z) : gelu_tanh(z);
    return z < -4.0f ? 0.0f : g;
  }
};

void run(const gelu::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(gelu, tail_cut)
