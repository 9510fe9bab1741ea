// SPDX-License-Identifier: Apache-2.0
// FAULT: key < query where it should be key <= query: the key on the diagonal is not seen. Right without a mask.
// Caught by: T1, on any fill with a causal mask.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, diagonal_hidden) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ Keys seen(const Problem<T>& p, int query) { return {p.first_visible(query), p.visible(query - 1)}; }
};
KERNEL_FROM(attention_forward, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(attention_forward, diagonal_hidden)
