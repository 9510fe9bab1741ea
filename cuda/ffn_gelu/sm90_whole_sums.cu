// SPDX-License-Identifier: Apache-2.0
// Up to 64 tokens: two products by wgmma and tensor copies (cuda/ffn_gelu/whole.cuh), in tiles of few units and of few features.
#include "cuda/ffn_gelu/whole.cuh"

namespace assay::ROOM(ffn_gelu, sm90_whole_sums) {

using namespace ffn_gelu_room;

KERNEL(ffn_gelu) = whole_sums_traits({f16, bf16});

void run(const ffn_gelu::Args& a, const Launch& l) {
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) { run_whole_sums<T>(a, l); });
}

}  // namespace assay::ROOM(ffn_gelu, sm90_whole_sums)
