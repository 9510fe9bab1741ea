// SPDX-License-Identifier: Apache-2.0
// FAULT: rows of more than 1000 columns go to an instance that has the default epsilon built in.
// Kind: combinations
// Shows: cols > 1000 with another epsilon than 1e-5, in f32 or with small values.
#include "cuda/residual_layernorm/broken/plain.cuh"

namespace assay::ROOM(residual_layernorm, given_epsilon_lost_in_long_rows) {

KERNEL(residual_layernorm) = plain_traits<Plain>();

void run(const residual_layernorm::Args& a, const Launch& l) {
  residual_layernorm::Args b = a;
  if (a.x.shape[1] > 1000) b.epsilon = 1e-5;
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(residual_layernorm, given_epsilon_lost_in_long_rows)
