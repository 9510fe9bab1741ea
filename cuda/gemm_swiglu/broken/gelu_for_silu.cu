// SPDX-License-Identifier: Apache-2.0
// FAULT: the gate goes through GELU: GEGLU instead of SwiGLU. Right where the gate is saturated, or 0.
// Caught by: T1, on moderate gates (unit, chosen).
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, gelu_for_silu) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float value(const Operands<T>&, float gate, float up, std::int64_t) { return gelu_tanh(gate) * up; }
};
KERNEL_FROM(gemm_swiglu, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(gemm_swiglu, gelu_for_silu)
