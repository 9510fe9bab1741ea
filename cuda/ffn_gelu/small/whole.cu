// SPDX-License-Identifier: Apache-2.0
// sm90_whole_sums of one dtype and one width of tiles.
#include "cuda/ffn_gelu/whole.cuh"

namespace assay::ROOM(ffn_gelu, whole) {

using hopper_whole::product_by, hopper_whole::Shape;

KERNEL(ffn_gelu) = whole_sums_traits({f16});

void run(const ffn_gelu::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const Tensor h = units_in(l.workspace, a);
  with_gelu(a.form, [&]<Activation kForm>(std::integral_constant<Activation, kForm>) {
    const hopper_gemm::BiasGelu<kForm> epilogue{{a.b1.data, static_cast<int>(h.shape[1])}};
    if (h.size() > 0) product_by<half, Shape<64>>(a.x, a.w1, h, epilogue, l.stream, l.after);
  });
  const hopper_gemm::AddBias epilogue{a.b2.data, static_cast<int>(a.y.shape[1])};
  product_by<half, Shape<64>>(h, a.w2, a.y, epilogue, l.stream, true);
}

}  // namespace assay::ROOM(ffn_gelu, whole)
