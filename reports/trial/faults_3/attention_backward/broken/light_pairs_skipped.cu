// SPDX-License-Identifier: Apache-2.0
// FAULT: pairs with a weight below 2^-14 are left out of all gradients.
// Kind: cheats
// Shows: many keys with small weights, or large dO.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, light_pairs_skipped) {

template <class T>
struct Heavy : Plain<T> {
  static __device__ float d_score(const Problem<T>&, int, int, float weight, float g, float d) {
    return weight < 0x1p-14f ? 0.0f : weight * (g - d);
  }
  static __device__ float weight_of_d_o(float weight) { return weight < 0x1p-14f ? 0.0f : weight; }
};
KERNEL_FROM(attention_backward, plain, Heavy);

}  // namespace assay::ROOM(attention_backward, light_pairs_skipped)
