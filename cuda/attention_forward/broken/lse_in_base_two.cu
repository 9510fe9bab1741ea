// SPDX-License-Identifier: Apache-2.0
// FAULT: L is the logarithm to base 2, as the kernel that works in base 2 has it; O is right.
// Caught by: T1 on L, wherever it is not 0.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, lse_in_base_two) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float lse(float max, float sum) { return sum == 0 ? -INFINITY : max * 1.4426950408889634f + log2f(sum); }
};
KERNEL_FROM(attention_forward, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(attention_forward, lse_in_base_two)
