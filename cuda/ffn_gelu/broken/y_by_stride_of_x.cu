// SPDX-License-Identifier: Apache-2.0
// FAULT: the rows of y are found by the stride of x, which has the same shape. Right where both lie alike.
// Kind: layout
// Caught by: out_of_bounds, with fill=unit, layout=mixed (f16).
#include "cuda/ffn_gelu/broken/plain.cuh"

namespace assay::ROOM(ffn_gelu, y_by_stride_of_x) {

KERNEL(ffn_gelu) = plain_traits<Plain>();

void run(const ffn_gelu::Args& a, const Launch& l) {
  ffn_gelu::Args b = a;
  b.y.stride = a.x.stride;
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(ffn_gelu, y_by_stride_of_x)
