// SPDX-License-Identifier: Apache-2.0
// FAULT: the first thread leaves the root in shared memory and no barrier stands between that and the others' reading of it.
// Caught by: a shared-memory race on simt, and the bound of y in orders that let another warp run first; cols > 32, any fill.
#include "cuda/residual_rmsnorm/broken/plain.cuh"

namespace assay::ROOM(residual_rmsnorm, missing_barrier) {

template <class T>
struct Wrong : Plain<T> {
  static constexpr std::size_t kSharedBytes = (kWarp + 1) * sizeof(float);
  static __device__ float handed_out(float r) {
    float* const handed = shared_memory<float>() + kWarp;
    if (threadIdx.x == 0) st(handed, r);
    return ld(handed);
  }
};
KERNEL_FROM(residual_rmsnorm, plain, Wrong);

}  // namespace assay::ROOM(residual_rmsnorm, missing_barrier)
