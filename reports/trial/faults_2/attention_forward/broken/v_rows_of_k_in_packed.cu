// SPDX-License-Identifier: Apache-2.0
// FAULT: packed sequences: the row stride of V is taken from K, as a merged KV buffer has it.
// Kind: layout
// Shows: packed sequences where K and V have different row strides.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, v_rows_of_k_in_packed) {

KERNEL(attention_forward) = plain_traits<Turned>();

void run(const attention_forward::Args& a, const Launch& l) {
  attention_forward::Args b = a;
  if (a.packed) b.v.stride[1] = a.k.stride[1];
  run_plain<Turned>(b, l);
}

}  // namespace assay::ROOM(attention_forward, v_rows_of_k_in_packed)
