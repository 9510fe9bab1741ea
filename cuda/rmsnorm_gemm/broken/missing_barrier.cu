// SPDX-License-Identifier: Apache-2.0
// FAULT: the first thread leaves r in shared memory and the others read it without a barrier.
// Caught by: T4, two runs that differ, in an order that lets a reader be first; the watch as a race. More than one feature.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, missing_barrier) {

template <class T>
struct Wrong : Plain<T> {
  static constexpr std::size_t kSharedBytes = sizeof(float);
  template <class F>
  __device__ static float scale(const Operands<T>& p, std::int64_t token) {
    float* const shared_r = shared_memory<float>();
    if (threadIdx.x == 0) st(shared_r, Plain<T>::template scale<F>(p, token));
    return ld(shared_r);
  }
};
KERNEL_FROM(rmsnorm_gemm, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(rmsnorm_gemm, missing_barrier)
