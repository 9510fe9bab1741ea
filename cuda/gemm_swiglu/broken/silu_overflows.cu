// SPDX-License-Identifier: Apache-2.0
// FAULT: silu as gate e^gate / (1 + e^gate): inf / inf from gate = 88.7 on.
// Caught by: the class of the result, where gates are large (probe_gates, unit_outlier).
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, silu_overflows) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float value(const Operands<T>&, float gate, float up, std::int64_t) {
    const float e = expf(gate);
    return gate * e / (1.0f + e) * up;
  }
};
KERNEL_FROM(gemm_swiglu, plain, Wrong);

}  // namespace assay::ROOM(gemm_swiglu, silu_overflows)
