// SPDX-License-Identifier: Apache-2.0
// FAULT: P is rounded to the storage dtype before it meets dO, and the kernel does not say so.
// Caught by: the bound in f16 and bf16, on any fill with few pairs or hot keys; right in f32.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, probabilities_rounded) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float weight_of_d_o(float weight) { return to_float(from_float<T>(weight)); }
};
KERNEL_FROM(attention_backward, plain, Wrong);

}  // namespace assay::ROOM(attention_backward, probabilities_rounded)
