// SPDX-License-Identifier: Apache-2.0
// FAULT: the rows of y are found by the stride of x. Right where both lie alike.
// Kind: layout
// Caught by: the bound, with layout=mixed (f16).
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, y_by_stride_of_x) {

KERNEL(softmax) = plain_traits<Plain>();

void run(const softmax::Args& a, const Launch& l) {
  softmax::Args b = a;
  b.y.stride = a.x.stride;
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(softmax, y_by_stride_of_x)
