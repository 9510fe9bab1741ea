// SPDX-License-Identifier: Apache-2.0
// FAULT: the token stride of O is derived from its head stride, as if the heads of a token filled it.
// Kind: layout
// Shows: an O with a gap after the heads of each token, and more than one query or batch entry.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, o_tokens_from_heads) {

KERNEL(paged_attention) = plain_traits<Plain>();

void run(const paged_attention::Args& a, const Launch& l) {
  paged_attention::Args b = a;
  b.o.stride[1] = a.o.shape[2] * a.o.stride[2];
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(paged_attention, o_tokens_from_heads)
