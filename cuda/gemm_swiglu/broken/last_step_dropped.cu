// SPDX-License-Identifier: Apache-2.0
// FAULT: after at least one full step of 32 channels the rest of the channels are not added.
// Caught by: the bound and probe_gates, where hidden is above 32 and no multiple of it.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, last_step_dropped) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static std::int64_t summed(std::int64_t hidden) { return hidden < 32 ? hidden : hidden / 32 * 32; }
};
KERNEL_FROM(gemm_swiglu, plain, Wrong);

}  // namespace assay::ROOM(gemm_swiglu, last_step_dropped)
