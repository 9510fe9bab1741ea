// SPDX-License-Identifier: Apache-2.0
// Up to 64 tokens by wgmma and tensor copies (cuda/core/hopper_few.cuh): tiles of 64 features, whose channels are split if the
// tiles do not fill the device.  A token has the same bits whatever others are with it.
#include "cuda/linear/few_tokens.cuh"

namespace assay::ROOM(linear, sm90_few_tokens) {

KERNEL(linear) = few_tokens_traits({f16, bf16});

void run(const linear::Args& a, const Launch& l) {
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) { run_few_tokens<T>(a, l); });
}

}  // namespace assay::ROOM(linear, sm90_few_tokens)
