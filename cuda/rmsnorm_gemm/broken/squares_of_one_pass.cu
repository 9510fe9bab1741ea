// SPDX-License-Identifier: Apache-2.0
// FAULT: one pass of 64 threads with four channels each sums the squares, and nothing takes the channels beyond 256; the mean
// is over all of them.
// Caught by: T1, with more than 256 channels.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, squares_of_one_pass) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static std::int64_t squared(const Operands<T>& p) {
    return p.hidden < 4 * kPlainThreads ? p.hidden : 4 * kPlainThreads;
  }
};
KERNEL_FROM(rmsnorm_gemm, plain, Wrong);

}  // namespace assay::ROOM(rmsnorm_gemm, squares_of_one_pass)
