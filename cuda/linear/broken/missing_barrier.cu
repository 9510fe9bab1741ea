// SPDX-License-Identifier: Apache-2.0
// FAULT: the token is brought to shared memory by all threads of the block and read without a barrier.
// Caught by: T1 in an order that lets a reader be first; the watch as a race. More than one channel.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, missing_barrier) {

template <class T>
struct Wrong : Plain<T> {
  static std::size_t shared_bytes(const Operands<T>& p) { return static_cast<std::size_t>(p.hidden) * sizeof(float); }
  __device__ static void prepare(const Operands<T>& p, std::int64_t token) {
    for (std::int64_t h = threadIdx.x; h < p.hidden; h += kPlainThreads) st(shared_memory<float>() + h, p.x_at(token, h));
  }
  template <class F>
  __device__ static float product(const Operands<T>& p, std::int64_t, std::int64_t o) {
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h) sum = fmaf(ld(shared_memory<float>() + h), p.weight_at(o, h), sum);
    return sum;
  }
};
KERNEL_FROM(linear, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(linear, missing_barrier)
