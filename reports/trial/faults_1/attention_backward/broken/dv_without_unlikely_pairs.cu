// SPDX-License-Identifier: Apache-2.0
// FAULT: pairs with a weight below 2^-16 are left out of dV.
// Kind: cheats
// Shows: a key whose scores are all 12 or more below the largest of their queries: its dV is zero instead of small.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, dv_without_unlikely_pairs) {

template <class T>
struct Likely : Plain<T> {
  static __device__ float weight_of_d_o(float weight) { return weight < 0x1p-16f ? 0.0f : weight; }
};

KERNEL_FROM(attention_backward, plain, Likely);

}  // namespace assay::ROOM(attention_backward, dv_without_unlikely_pairs)
