// SPDX-License-Identifier: Apache-2.0
// Up to 64 tokens: two products by wgmma and tensor copies (cuda/core/hopper_whole.cuh).  Bias and GELU are applied to the sums
// of the first; h goes to workspace, rounded to the dtype.  The second reads weights before the first has ended.
#include "cuda/core/hopper_whole_product.cuh"
#include "cuda/core/product.cuh"
#include "ops/ffn_gelu.hpp"

namespace assay::ROOM(ffn_gelu, sm90_whole_sums) {

// Units: an even number, since sums are stored by pairs, and whole pieces of 16 bytes in the rows of w2.
Legality supports(const ffn_gelu::Args& a) {
  if (a.w1.shape[0] % 8 != 0) return Legality::no("needs a multiple of 8 units");
  const Legality first = hopper_gemm::takes_few({&a.x, &a.w1}, a.y, a.b1.data);
  return first.ok ? hopper_gemm::takes_few({&a.w2}, a.y, a.b2.data) : first;
}
constexpr Numerics numerics() {
  Numerics n = hopper_gemm::kWithGelu;
  n.narrow_probabilities = true;
  return n;
}

KERNEL(ffn_gelu){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::ffn, hopper_whole::kChannels), tile(Axis::hidden, hopper_whole::kChannels)},
    .numerics = numerics(),
    .supports = supports,
    .workspace_bytes = [](const ffn_gelu::Args& a) { return product::workspace_bytes(a.x.shape[0], a.w1.shape[0], a.x.dtype); },
};

void run(const ffn_gelu::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const Tensor h = product::in_workspace(l.workspace, a.x.dtype, a.x.shape[0], a.w1.shape[0]);
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) {
    with_gelu(a.form, [&]<Activation kForm>(std::integral_constant<Activation, kForm>) {
      const hopper_gemm::BiasGelu<kForm> epilogue{{a.b1.data, static_cast<int>(h.shape[1])}};
      hopper_whole::product<T>(a.x, a.w1, h, epilogue, l.stream, l.after);
    });
    hopper_whole::product<T>(h, a.w2, a.y, hopper_gemm::AddBias{a.b2.data, static_cast<int>(a.y.shape[1])}, l.stream, true);
  });
}

}  // namespace assay::ROOM(ffn_gelu, sm90_whole_sums)
