// SPDX-License-Identifier: Apache-2.0
// The plain kernel, its silu as z/2 (1 + tanh(z/2)), which cancels for negative z, as declared.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, sigmoid_by_tanh) {

template <class T>
struct ByTanh : Plain<T> {
  __device__ static float value(const Operands<T>&, float gate, float up, std::int64_t /*f*/) {
    const float half_gate = 0.5f * gate;
    return half_gate * (1.0f + tanhf(half_gate)) * up;
  }
};
KERNEL_DECLARING(gemm_swiglu, plain, ByTanh, (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .tanh_sigmoid = true}));

}  // namespace assay::ROOM(gemm_swiglu, sigmoid_by_tanh)
