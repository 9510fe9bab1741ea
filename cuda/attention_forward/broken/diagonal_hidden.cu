// SPDX-License-Identifier: Apache-2.0
// FAULT: key < query where it should be key <= query: the key on the diagonal is not seen. Right without a mask.
// Caught by: T1, on any fill with a causal mask.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, diagonal_hidden) {

KERNEL(attention_forward) = plain_traits({f16, f32});

template <class T>
struct Wrong : Steps<T> {
  static __device__ Keys seen(const Problem<T>& p, int query) { return {p.first_visible(query), p.visible(query - 1)}; }
};

void run(const attention_forward::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, diagonal_hidden)
