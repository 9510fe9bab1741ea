// SPDX-License-Identifier: Apache-2.0
// FAULT: the rows of k are taken to be kv_heads * head_dim apart, whatever the tensor's stride. Right where nothing lies between
// them.
// Kind: layout
// Caught by: the bound, with layout=padded (f16).
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, key_rows_from_heads) {

KERNEL(attention_scores) = plain_traits<Plain>();

void run(const attention_scores::Args& a, const Launch& l) {
  attention_scores::Args b = a;
  b.k.stride[1] = a.k.shape[2] * a.k.shape[3];
  b.k.stride[0] = a.k.shape[1] * b.k.stride[1];
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(attention_scores, key_rows_from_heads)
