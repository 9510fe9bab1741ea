// SPDX-License-Identifier: Apache-2.0
// FAULT: beyond z = 3 GELU is taken for z and below -3 for 0, up to 4e-3 too early.
// Caught by: T1, at |z| from 3 to 6 (chosen, normal).
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, cut_at_three) {

KERNEL(gelu_linear){
    .dtypes = {f16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float gelu(const Operands<T>& p, float z, std::int64_t o) {
    return z > 3.0f ? z : z < -3.0f ? 0.0f : Plain<T>::gelu(p, z, o);
  }
};

void run(const gelu_linear::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(gelu_linear, cut_at_three)
