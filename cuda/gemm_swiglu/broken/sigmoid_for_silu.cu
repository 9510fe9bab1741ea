// SPDX-License-Identifier: Apache-2.0
// FAULT: where sigmoid(gate) is 1 it is taken for silu(gate): the factor gate is missing.
// Caught by: the bound, on gates beyond 20 (fills chosen, unit_outlier, probe_gates).
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, sigmoid_for_silu) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float value(const Operands<T>&, float gate, float up, std::int64_t) {
    return gate > 20.0f ? up : silu(gate) * up;
  }
};
KERNEL_FROM(gemm_swiglu, plain, Wrong);

}  // namespace assay::ROOM(gemm_swiglu, sigmoid_for_silu)
