// SPDX-License-Identifier: Apache-2.0
// FAULT: D is rounded to the storage dtype before it is taken off, and the kernel does not say so.
// Caught by: the bound in f16 and bf16, on any fill, most plainly large_values; right in f32.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, d_rounded) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float d_score(const Problem<T>&, int, int, float weight, float g, float d) {
    return weight * (g - to_float(from_float<T>(d)));
  }
};
KERNEL_FROM(attention_backward, plain, Wrong);

}  // namespace assay::ROOM(attention_backward, d_rounded)
