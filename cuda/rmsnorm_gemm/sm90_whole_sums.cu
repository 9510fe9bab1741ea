// SPDX-License-Identifier: Apache-2.0
// Up to 64 tokens: x r gamma, rounded to the dtype, into workspace, by one block per row; then its product with the weight by
// wgmma and tensor copies (cuda/core/hopper_whole.cuh).
#include "cuda/core/hopper_whole_product.cuh"
#include "cuda/rmsnorm_gemm/norm.cuh"

namespace assay::ROOM(rmsnorm_gemm, sm90_whole_sums) {

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::out, hopper_whole::kFeatures), tile(Axis::hidden, hopper_whole::kChannels)},
    .numerics = {.accumulate = f32, .chain = kRowChain, .mma_terms = 16, .stores = "n"},
    .supports = [](const rmsnorm_gemm::Args& a) { return hopper_gemm::takes_few({&a.weight}, a.y); },
    .workspace_bytes = normalised_bytes,
};

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const Tensor rows = normalised(a, l);
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) {
    hopper_whole::product<T>(rows, a.weight, a.y, hopper_gemm::AddBias{nullptr, 0}, l.stream, true);
  });
}

}  // namespace assay::ROOM(rmsnorm_gemm, sm90_whole_sums)
