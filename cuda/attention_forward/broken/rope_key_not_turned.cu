// SPDX-License-Identifier: Apache-2.0
// FAULT: q is rotated to its position, k stays as it is: a cache taken to hold rotated keys.
// Caught by: the bound, with rope and more than one key; right without rope, and where no key weighs more than another.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, rope_key_not_turned) {

template <class T>
struct Wrong : Turned<T> {
  static __device__ float dot(const Problem<T>& p, const T* q, const T* k, int query, int /*key*/) {
    return rotated_dot(p.rope, p.dim, q, k, p.place(query), -p.rope.offset);
  }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, rope_key_not_turned)
