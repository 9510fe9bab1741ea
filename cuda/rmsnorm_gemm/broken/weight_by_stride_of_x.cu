// SPDX-License-Identifier: Apache-2.0
// FAULT: the rows of the weight are found by the stride of x, whose rows are as long. Right where both lie alike.
// Kind: layout
// Caught by: the bound, with layout=mixed (f16).
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, weight_by_stride_of_x) {

KERNEL(rmsnorm_gemm) = plain_traits<Plain>();

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  rmsnorm_gemm::Args b = a;
  b.weight.stride = a.x.stride;
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(rmsnorm_gemm, weight_by_stride_of_x)
