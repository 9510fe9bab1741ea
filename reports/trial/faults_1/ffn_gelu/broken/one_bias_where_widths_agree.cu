// SPDX-License-Identifier: Apache-2.0
// FAULT: the biases are told apart by their lengths, so where ffn = hidden the first is used for both.
// Kind: combinations
// Shows: bias with ffn = hidden.
#include "cuda/ffn_gelu/broken/plain.cuh"

namespace assay::ROOM(ffn_gelu, one_bias_where_widths_agree) {

KERNEL(ffn_gelu) = plain_traits<Plain>();

void run(const ffn_gelu::Args& a, const Launch& l) {
  ffn_gelu::Args b = a;
  if (a.has_bias && a.b1.shape[0] == a.y.shape[1]) b.b2 = a.b1;
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(ffn_gelu, one_bias_where_widths_agree)
