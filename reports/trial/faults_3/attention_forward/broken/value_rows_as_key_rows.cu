// SPDX-License-Identifier: Apache-2.0
// FAULT: rows and batches of V are found by the strides of K if both have the same stride of heads.
// Kind: layout
// Shows: K and V with different strides of rows or batches and the same of heads.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, value_rows_as_key_rows) {

KERNEL(attention_forward) = plain_traits<Plain>();

void run(const attention_forward::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  attention_forward::Args like_k = a;
  if (a.v.stride[2] == a.k.stride[2]) like_k.v.stride = a.k.stride;
  run_plain<Plain>(like_k, l);
}

}  // namespace assay::ROOM(attention_forward, value_rows_as_key_rows)
