// SPDX-License-Identifier: Apache-2.0
// FAULT: the gate that enters the sigmoid is limited to -30 ... 30.
// Kind: ranges
// Shows: gates below -30.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, gate_limited_to_thirty) {

template <class T>
struct Limited : Plain<T> {
  __device__ static float value(const Operands<T>&, float gate, float up, std::int64_t) {
    const float limited = gate < -30.0f ? -30.0f : gate > 30.0f ? 30.0f : gate;
    return gate / (1.0f + expf(-limited)) * up;
  }
};
KERNEL_FROM(gemm_swiglu, plain, Limited);

}  // namespace assay::ROOM(gemm_swiglu, gate_limited_to_thirty)
