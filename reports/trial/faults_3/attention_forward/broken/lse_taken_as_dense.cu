// SPDX-License-Identifier: Apache-2.0
// FAULT: L is written as if its rows had no gaps.
// Kind: layout
// Shows: L with padded rows, of more than one head.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, lse_taken_as_dense) {

KERNEL(attention_forward) = plain_traits<Plain>();

void run(const attention_forward::Args& a, const Launch& l) {
  attention_forward::Args dense_lse = a;
  dense_lse.lse.stride[1] = a.lse.shape[2], dense_lse.lse.stride[0] = a.lse.shape[1] * a.lse.shape[2];
  run_plain<Plain>(dense_lse, l);
}

}  // namespace assay::ROOM(attention_forward, lse_taken_as_dense)
