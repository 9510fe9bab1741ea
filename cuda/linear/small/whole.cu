// SPDX-License-Identifier: Apache-2.0
// sm90_whole_sums of one dtype.
#include "cuda/linear/whole_sums.cuh"

namespace assay::ROOM(linear, whole) {

KERNEL(linear) = whole_sums_traits({f16});

void run(const linear::Args& a, const Launch& l) { run_whole_sums<half>(a, l); }

}  // namespace assay::ROOM(linear, whole)
