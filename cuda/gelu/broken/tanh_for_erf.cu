// SPDX-License-Identifier: Apache-2.0
// FAULT: the tanh form whatever form is asked for, up to 5e-4 away from the erf form.
// Caught by: the bound with form=erf, in f16 and f32; bf16 is too coarse for most x.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, tanh_for_erf) {

KERNEL(gelu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
struct Wrong {
  __device__ static float gelu(float z, bool) { return gelu_tanh(z); }
};

void run(const gelu::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(gelu, tanh_for_erf)
