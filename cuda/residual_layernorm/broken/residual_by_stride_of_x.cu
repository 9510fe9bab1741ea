// SPDX-License-Identifier: Apache-2.0
// FAULT: the rows of residual are found by the stride of x. Right where both lie alike.
// Kind: layout
// Caught by: the bound, with layout=mixed (f16).
#include "cuda/residual_layernorm/broken/plain.cuh"

namespace assay::ROOM(residual_layernorm, residual_by_stride_of_x) {

KERNEL(residual_layernorm) = plain_traits<Plain>();

void run(const residual_layernorm::Args& a, const Launch& l) {
  residual_layernorm::Args b = a;
  b.residual.stride = a.x.stride;
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(residual_layernorm, residual_by_stride_of_x)
