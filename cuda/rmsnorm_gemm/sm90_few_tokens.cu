// SPDX-License-Identifier: Apache-2.0
// Up to 64 tokens: x r gamma, rounded to the dtype, into workspace, by one block per row; then its product with the weight by
// wgmma and tensor copies (cuda/core/hopper_few.cuh), whose channels are split if the tiles do not fill the device.
#include "cuda/core/hopper_few_product.cuh"
#include "cuda/rmsnorm_gemm/norm.cuh"

namespace assay::ROOM(rmsnorm_gemm, sm90_few_tokens) {

// Bytes of the rows that are normalised; the parts come behind them.
std::size_t bytes_of_rows(const rmsnorm_gemm::Args& a) { return (normalised_bytes(a) + 255) / 256 * 256; }

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::out, hopper_few::kFeatures), tile(Axis::hidden, hopper_few::kDeep)},
    .numerics = {.accumulate = f32, .chain = kRowChain, .mma_terms = 16, .stores = "n"},
    .supports = [](const rmsnorm_gemm::Args& a) { return hopper_gemm::takes_few({&a.weight}, a.y); },
    .workspace_bytes =
        [](const rmsnorm_gemm::Args& a) {
          return bytes_of_rows(a) + hopper_few::workspace_bytes(a.x.shape[0], a.y.shape[1], a.x.shape[1], 1);
        },
};

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const Tensor rows = normalised(a, l);
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) {
    hopper_few::product<T, 1>(rows, a.weight, nullptr, a.y, hopper_few::AddBias{nullptr, 0},
                              static_cast<unsigned char*>(l.workspace) + bytes_of_rows(a), l.stream, true);
  });
}

}  // namespace assay::ROOM(rmsnorm_gemm, sm90_few_tokens)
