// SPDX-License-Identifier: Apache-2.0
// FAULT: keys are taken in pairs, and nothing takes the last of an odd number from three on.
// Caught by: T1, T0 on probe_one_key; an odd number of visible keys.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, odd_key_dropped) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ Keys seen(const Problem<T>& p, int query) {
    const int first = p.first_visible(query), count = p.visible(query) - first;
    return {first, first + (count < 3 ? count : count / 2 * 2)};
  }
};
KERNEL_FROM(attention_forward, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(attention_forward, odd_key_dropped)
