// SPDX-License-Identifier: Apache-2.0
// The plain kernel, its keys taken from the last to the first.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, reversed_keys) {

template <class T>
struct Reversed : Turned<T> {
  static __device__ int taken(const Keys& seen, int key) { return seen.first + seen.end - 1 - key; }
};
KERNEL_FROM(attention_forward, plain, Reversed);

}  // namespace assay::ROOM(attention_forward, reversed_keys)
