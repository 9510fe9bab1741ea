// SPDX-License-Identifier: Apache-2.0
// FAULT: the default scale is that of a head padded to a multiple of eight channels, as it lies in shared memory.
// Kind: algorithm
// Shows: a head_dim that is no multiple of eight, with scale 0.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, scale_of_padded_head) {

KERNEL(attention_forward) = plain_traits<Plain>();

void run(const attention_forward::Args& a, const Launch& l) {
  attention_forward::Args b = a;
  if (a.scale == 0) b.scale = 1 / std::sqrt(static_cast<double>(ceil_div(a.q.shape[3], 8) * 8));
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(attention_forward, scale_of_padded_head)
