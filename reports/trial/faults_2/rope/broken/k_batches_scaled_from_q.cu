// SPDX-License-Identifier: Apache-2.0
// FAULT: the batch stride of the rotated K is scaled from that of Q by the ratio of their heads, which holds for packed tensors
// only.
// Kind: layout
// Shows: batches of K laid out with other gaps than those of Q, with batch > 1.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, k_batches_scaled_from_q) {

template <class T>
struct Steps : Plain<T> {
  static void change(Problem<T>& p) { p.k.y_batch = p.q.y_batch / p.q.heads * p.k.heads; }
};
KERNEL_FROM(rope, plain, Steps);

}  // namespace assay::ROOM(rope, k_batches_scaled_from_q)
