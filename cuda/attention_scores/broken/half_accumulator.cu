// SPDX-License-Identifier: Apache-2.0
// FAULT: the dot product is summed in the storage dtype. Right in f32.
// Caught by: the bound in f16 and bf16 on cancelling and large_scores, and on any random case with many channels.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, half_accumulator) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float dot_so_far(float sum) { return to_float(from_float<T>(sum)); }
};
KERNEL_FROM(attention_scores, plain, Wrong);

}  // namespace assay::ROOM(attention_scores, half_accumulator)
