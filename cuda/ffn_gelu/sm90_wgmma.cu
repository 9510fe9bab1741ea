// SPDX-License-Identifier: Apache-2.0
// Two products by wgmma and tensor copies (cuda/core/hopper_gemm.cuh): bias and GELU are applied to the accumulators of the
// first, so z never leaves the chip; h goes to workspace, rounded to the dtype of the second product.
#include "cuda/core/hopper_epilogue.cuh"
#include "cuda/core/product.cuh"
#include "ops/ffn_gelu.hpp"

namespace assay::ROOM(ffn_gelu, sm90_wgmma) {

// The rows of h must be whole pieces of 16 bytes too, since they are stored by boxes.
Legality supports(const ffn_gelu::Args& a) {
  if (a.w1.shape[0] % 8 != 0) return Legality::no("needs a multiple of 8 units");
  const Legality first = hopper_gemm::takes({&a.x, &a.w1}, a.y, a.b1.data);
  return first.ok ? hopper_gemm::takes({&a.w2}, a.y, a.b2.data) : first;
}
constexpr Numerics numerics() {
  Numerics n = hopper_gemm::kWithGelu;
  n.narrow_probabilities = true;
  return n;
}

KERNEL(ffn_gelu){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::tokens, 128), tile(Axis::ffn, 256), tile(Axis::hidden, 64)},
    .numerics = numerics(),
    .supports = supports,
    .workspace_bytes = [](const ffn_gelu::Args& a) { return product::workspace_bytes(a.x.shape[0], a.w1.shape[0], a.x.dtype); },
};

void run(const ffn_gelu::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const Tensor h = product::in_workspace(l.workspace, a.x.dtype, a.x.shape[0], a.w1.shape[0]);
  hopper_gemm::gelu_product(hopper_gemm::FewShapes{}, a.x, a.w1, a.b1, h, a.form, l);
  hopper_gemm::linear_product(hopper_gemm::FewShapes{}, h, a.w2, a.b2, a.y, l, true);
}

}  // namespace assay::ROOM(ffn_gelu, sm90_wgmma)
