// SPDX-License-Identifier: Apache-2.0
// FAULT: the token is brought to shared memory by all threads of the block and read without a barrier.
// Caught by: T1 in an order that lets a reader be first; the watch as a race. More than one channel.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, missing_barrier) {

template <class T>
struct Wrong : Plain<T> {
  static std::size_t shared_bytes(const Operands<T>& p) { return static_cast<std::size_t>(p.hidden) * sizeof(float); }
  __device__ static void prepare(const Operands<T>& p, std::int64_t token) {
    for (std::int64_t h = threadIdx.x; h < p.hidden; h += kPlainThreads)
      st(shared_memory<float>() + h, to_float(ld(p.x + token * p.x_stride + h)));
  }
  __device__ static float x_at(const T*, std::int64_t h) { return ld(shared_memory<float>() + h); }
};
KERNEL_FROM(gemm_swiglu, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(gemm_swiglu, missing_barrier)
