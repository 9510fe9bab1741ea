// SPDX-License-Identifier: Apache-2.0
// Two products by wgmma and tensor copies (cuda/core/hopper_gemm.cuh): bias and GELU are applied to the accumulators of the
// first, so z never leaves the chip.
#include "cuda/ffn_gelu/hopper.cuh"

namespace assay::ROOM(ffn_gelu, sm90_wgmma) {

using namespace ffn_gelu_room;

KERNEL(ffn_gelu){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::tokens, 128), tile(Axis::ffn, 256), tile(Axis::hidden, 64)},
    .numerics = hopper_numerics(),
    .supports = hopper_takes<hopper_gemm::takes>,
    .workspace_bytes = bytes_of_units,
};

void run(const ffn_gelu::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const Tensor h = units_in(l.workspace, a);
  hopper_gemm::gelu_product(hopper_gemm::FewShapes{}, a.x, a.w1, a.b1, h, a.form, l);
  hopper_gemm::linear_product(hopper_gemm::FewShapes{}, h, a.w2, a.b2, a.y, l, true);
}

}  // namespace assay::ROOM(ffn_gelu, sm90_wgmma)
