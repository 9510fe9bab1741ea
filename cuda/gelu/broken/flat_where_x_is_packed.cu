// SPDX-License-Identifier: Apache-2.0
// FAULT: where the rows of x touch each other, y is taken for one long row, too: its own stride is not looked at.
// Kind: layout
// Caught by: the bound, with layout=mixed (f16).
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, flat_where_x_is_packed) {

KERNEL(gelu) = plain_traits<Plain>();

void run(const gelu::Args& a, const Launch& l) {
  gelu::Args b = a;
  if (a.x.stride[0] == a.x.shape[1]) b.y.stride[0] = a.x.shape[1];
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(gelu, flat_where_x_is_packed)
