// SPDX-License-Identifier: Apache-2.0
// FAULT: the erf form whichever is asked for.
// Caught by: T1, with form=tanh: the two are up to 5e-4 apart.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, erf_for_tanh) {

KERNEL(gelu_linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float gelu(const Operands<T>&, float z, std::int64_t) { return gelu_erf(z); }
};

void run(const gelu_linear::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(gelu_linear, erf_for_tanh)
