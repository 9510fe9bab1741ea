// SPDX-License-Identifier: Apache-2.0
// FAULT: gate and up are limited to 64, like the smaller limits in a variant of SwiGLU that some models use.
// Kind: algorithm
// Shows: a gate above 64, or an up beyond 64.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, clamped_at_64) {

template <class T>
struct Limited : Plain<T> {
  __device__ static float value(const Operands<T>&, float gate, float up, std::int64_t /*f*/) {
    gate = gate > 64.0f ? 64.0f : gate;
    up = up > 64.0f ? 64.0f : up < -64.0f ? -64.0f : up;
    return silu(gate) * up;
  }
};

KERNEL_FROM(gemm_swiglu, plain, Limited);

}  // namespace assay::ROOM(gemm_swiglu, clamped_at_64)
