// SPDX-License-Identifier: Apache-2.0
// FAULT: the rows of y are found by the stride of residual, as where y replaces it. Right where both lie alike.
// Kind: layout
// Caught by: the bound, with layout=mixed (f16).
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, y_by_stride_of_residual) {

KERNEL(layernorm_residual) = plain_traits<Plain>();

void run(const layernorm_residual::Args& a, const Launch& l) {
  layernorm_residual::Args b = a;
  b.y.stride = a.residual.stride;
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(layernorm_residual, y_by_stride_of_residual)
