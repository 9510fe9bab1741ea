// SPDX-License-Identifier: Apache-2.0
// FAULT: D is rounded to the storage dtype before it is taken off, and the kernel does not say so.
// Caught by: the bound in f16 and bf16, on any fill, most plainly large_values; right in f32.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, d_rounded) {

KERNEL(attention_backward) = plain_traits({f16, bf16, f32});

template <class T>
struct Wrong : Steps<T> {
  static __device__ float d_score(const Problem<T>&, int, int, float weight, float g, float d) {
    return weight * (g - to_float(from_float<T>(d)));
  }
};

void run(const attention_backward::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_backward, d_rounded)
