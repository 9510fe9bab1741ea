// SPDX-License-Identifier: Apache-2.0
// FAULT: L is written as a packed [batch, heads, seq_q], whatever its strides; O is right.
// Kind: layout
// Caught by: the bound, with layout=padded (f16).
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, lse_taken_for_packed) {

KERNEL(attention_forward) = plain_traits<Plain>();

void run(const attention_forward::Args& a, const Launch& l) {
  attention_forward::Args b = a;
  b.lse.stride = {a.lse.shape[1] * a.lse.shape[2], a.lse.shape[2], 1};
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(attention_forward, lse_taken_for_packed)
