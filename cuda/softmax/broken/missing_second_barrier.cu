// SPDX-License-Identifier: Apache-2.0
// FAULT: maximum and sum use the same shared memory, and no barrier keeps the sum from overwriting a maximum that is still to
// be read.
// Caught by: T1 in an order that lets a thread run ahead; the watch as a race. More than one column.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, missing_second_barrier) {

template <class T>
struct Wrong : Plain<T> {
  static constexpr std::size_t kSharedBytes = kPlainThreads * sizeof(float);
  template <class F>
  static __device__ float tree(float v, F f) {
    float* const scratch = shared_memory<float>();
    const int thread = static_cast<int>(threadIdx.x);
    st(scratch + thread, v);
    sync_block();
    for (int half = kPlainThreads / 2; half > 0; half /= 2) {
      if (thread < half) st(scratch + thread, f(ld(scratch + thread), ld(scratch + thread + half)));
      sync_block();
    }
    return ld(scratch);
  }
  static __device__ float group_max(float v) {
    return tree(v, [](float a, float b) { return fmaxf(a, b); });
  }
  static __device__ float group_sum(float v) {
    return tree(v, [](float a, float b) { return a + b; });
  }
};
KERNEL_FROM(softmax, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(softmax, missing_second_barrier)
