// SPDX-License-Identifier: Apache-2.0
// FAULT: a gate below -20 counts as closed: 0, where silu is -4e-8, and for -inf, where it is NaN.
// Kind: range
// Caught by: the bound, with fill=wide_range (f16).
#include "cuda/silu_mul/broken/plain.cuh"

namespace assay::ROOM(silu_mul, gate_cut_at_minus_twenty) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float value(float gate, float up, std::int64_t, std::int64_t) {
    return gate < -20.0f ? 0.0f : silu(gate) * up;
  }
};
KERNEL_FROM(silu_mul, plain, Wrong);

}  // namespace assay::ROOM(silu_mul, gate_cut_at_minus_twenty)
