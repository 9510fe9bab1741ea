// SPDX-License-Identifier: Apache-2.0
// FAULT: where the gate is zero y is zero, whatever the other product is.
// Kind: ranges
// Shows: a row of x of zeros and an infinity in w_up, which make that product NaN.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, closed_gate_is_zero) {

template <class T>
struct Steps : Plain<T> {
  __device__ static float value(const Operands<T>&, float gate, float up, std::int64_t) {
    return gate == 0.0f ? 0.0f : silu(gate) * up;
  }
};
KERNEL_FROM(gemm_swiglu, plain, Steps);

}  // namespace assay::ROOM(gemm_swiglu, closed_gate_is_zero)
