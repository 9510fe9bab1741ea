// SPDX-License-Identifier: Apache-2.0
// FAULT: threads that have no column return at once, before the barriers and shuffles of the sums that expect them.
// Caught by: barrier divergence or a shuffle with an exited lane on simt; on a GPU by the bound (partial sums never written).
// Any fill with cols < 256; right from there on.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, early_return_before_barrier) {

template <class T>
struct Wrong : Plain<T> {
  static constexpr int kThreads = 256;
  __device__ static bool takes_part(const Rows<T>& m) { return threadIdx.x < m.cols; }
};
KERNEL_FROM(layernorm_residual, plain, Wrong);

}  // namespace assay::ROOM(layernorm_residual, early_return_before_barrier)
