// SPDX-License-Identifier: Apache-2.0
// FAULT: the exponent of the sigmoid is kept within 10, against an overflow that cannot happen: 5e-5 gate instead of almost
// 0.
// Caught by: T1, on gates below -10 (chosen, probe_gates, unit_outlier).
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, exponent_clamped) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float value(const Operands<T>&, float gate, float up, std::int64_t) {
    const float e = expf(fminf(fmaxf(-gate, -10.0f), 10.0f));
    return gate / (1.0f + e) * up;
  }
};
KERNEL_FROM(gemm_swiglu, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(gemm_swiglu, exponent_clamped)
