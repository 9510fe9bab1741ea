// SPDX-License-Identifier: Apache-2.0
// FAULT: hidden pairs are not left out but weighed with 0.
// Caught by: NaN in dQ where there is none, with a causal mask and special_keys; right with finite inputs.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, hidden_pairs_leak) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ int keys(const Problem<T>& p, int) { return p.keys; }
  static __device__ float d_score(const Problem<T>& p, int query, int key, float weight, float g, float d) {
    return key < p.visible(query) ? weight * (g - d) : 0.0f;
  }
};
KERNEL_FROM(attention_backward, plain, Wrong);

}  // namespace assay::ROOM(attention_backward, hidden_pairs_leak)
