// SPDX-License-Identifier: Apache-2.0
// FAULT: where the rows of x touch each other, those of y are taken to, as well.
// Kind: layout
// Caught by: the bound, with layout=mixed (f32).
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, y_packed_where_x_is) {

KERNEL(linear) = plain_traits<Plain>();

void run(const linear::Args& a, const Launch& l) {
  linear::Args b = a;
  if (a.x.stride[0] == a.x.shape[1]) b.y.stride[0] = a.y.shape[1];
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(linear, y_packed_where_x_is)
