// SPDX-License-Identifier: Apache-2.0
// FAULT: a single token goes a way of its own, which does not add the first bias.
// Kind: combinations
// Shows: tokens=1 with a bias.
#include "cuda/ffn_gelu/broken/plain.cuh"

namespace assay::ROOM(ffn_gelu, first_bias_lost_for_lone_token) {

KERNEL(ffn_gelu) = plain_traits<Plain>();

void run(const ffn_gelu::Args& a, const Launch& l) {
  ffn_gelu::Args b = a;
  if (a.x.shape[0] == 1) b.b1 = {};
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(ffn_gelu, first_bias_lost_for_lone_token)
