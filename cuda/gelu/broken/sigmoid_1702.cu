// SPDX-License-Identifier: Apache-2.0
// FAULT: GELU as x sigmoid(1.702 x), which is up to 2e-2 away.
// Caught by: the bound, on any moderate x.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, sigmoid_1702) {

KERNEL(gelu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
struct Wrong {
  __device__ static float gelu(float z, bool) { return times_sigmoid(z, 1.702f * z); }
};

void run(const gelu::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(gelu, sigmoid_1702)
