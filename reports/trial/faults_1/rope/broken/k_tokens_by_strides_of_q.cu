// SPDX-License-Identifier: Apache-2.0
// FAULT: the token stride of k is taken for that of q times kv_heads / heads, which holds only where both are packed.
// Kind: layout
// Shows: q and k that are slices of one projection, or any padded rows: k's token stride is not q's scaled by the heads.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, k_tokens_by_strides_of_q) {

template <class T>
struct Scaled : Plain<T> {
  static void change(Problem<T>& p) { p.k.x_token = p.q.x_token * p.k.heads / p.q.heads; }
};

KERNEL_FROM(rope, plain, Scaled);

}  // namespace assay::ROOM(rope, k_tokens_by_strides_of_q)
