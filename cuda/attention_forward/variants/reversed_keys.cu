// SPDX-License-Identifier: Apache-2.0
// The plain kernel, its keys taken from the last to the first.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, reversed_keys) {

KERNEL(attention_forward) = turned_traits({f16, bf16, f32});

template <class T>
struct Reversed : Steps<T> {
  static __device__ int taken(const Keys& seen, int key) { return seen.first + seen.end - 1 - key; }
};

void run(const attention_forward::Args& a, const Launch& l) { run_plain<Reversed>(a, l); }

}  // namespace assay::ROOM(attention_forward, reversed_keys)
