// SPDX-License-Identifier: Apache-2.0
// FAULT: heads * seq_q * seq_k, the stride of P's batches, is kept in an int.
// Caught by: T1 and T4, on the layout far with two sequences.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, batch_stride_of_32_bits) {

KERNEL(attention_scores) = plain_traits<Plain>();

void run(const attention_scores::Args& a, const Launch& l) {
  attention_scores::Args b = a;
  b.p.stride[0] = static_cast<int>(a.p.stride[0]);
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(attention_scores, batch_stride_of_32_bits)
