// SPDX-License-Identifier: Apache-2.0
// FAULT: GELU as z sigmoid(1.702 z), which is up to 2e-2 away.
// Caught by: the bound, on moderate z (fills unit and chosen).
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, sigmoid_1702) {

KERNEL(gelu_linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float gelu(const Operands<T>&, float z, std::int64_t) { return times_sigmoid(z, 1.702f * z); }
};

void run(const gelu_linear::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(gelu_linear, sigmoid_1702)
