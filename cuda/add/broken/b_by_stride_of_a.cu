// SPDX-License-Identifier: Apache-2.0
// FAULT: the rows of b are found by the stride of a, which has the same shape. Right where both lie alike.
// Kind: layout
// Caught by: the bound, with layout=mixed (f16).
#include "cuda/add/broken/plain.cuh"

namespace assay::ROOM(add, b_by_stride_of_a) {

KERNEL(add) = plain_traits<Plain>();

void run(const add::Args& a, const Launch& l) {
  add::Args b = a;
  b.b.stride = a.a.stride;
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(add, b_by_stride_of_a)
