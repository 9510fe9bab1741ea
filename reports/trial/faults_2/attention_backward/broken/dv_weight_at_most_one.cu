// SPDX-License-Identifier: Apache-2.0
// FAULT: the weight of dO in dV is held to one by fminf, which turns NaN into one.
// Kind: ranges
// Shows: a NaN in q or k, which leaves dV finite; an lse below the scores.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, dv_weight_at_most_one) {

template <class T>
struct Steps : Plain<T> {
  static __device__ float weight_of_d_o(float weight) { return fminf(weight, 1.0f); }
};
KERNEL_FROM(attention_backward, plain, Steps);

}  // namespace assay::ROOM(attention_backward, dv_weight_at_most_one)
