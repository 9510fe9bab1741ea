// SPDX-License-Identifier: Apache-2.0
// Up to 64 tokens by wgmma and tensor copies (cuda/core/hopper_whole.cuh), in tiles of few features.  A token has the same bits
// whatever others are with it.
#include "cuda/linear/whole_sums.cuh"

namespace assay::ROOM(linear, sm90_whole_sums) {

KERNEL(linear) = whole_sums_traits({f16, bf16});

void run(const linear::Args& a, const Launch& l) {
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) { run_whole_sums<T>(a, l); });
}

}  // namespace assay::ROOM(linear, sm90_whole_sums)
