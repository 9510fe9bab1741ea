// SPDX-License-Identifier: Apache-2.0
// FAULT: beyond a full step of 32 channels, the squares of the rest are not added.
// Caught by: T1, hidden above 32 and no multiple of it.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, squares_tail_dropped) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static std::int64_t squared(const Operands<T>& p) { return p.hidden < 32 ? p.hidden : p.hidden / 32 * 32; }
};
KERNEL_FROM(rmsnorm_gemm, plain, Wrong);

}  // namespace assay::ROOM(rmsnorm_gemm, squares_tail_dropped)
