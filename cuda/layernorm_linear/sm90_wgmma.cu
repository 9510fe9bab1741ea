// SPDX-License-Identifier: Apache-2.0
// The LayerNorm of x, rounded to the dtype, into workspace, by one block per row, as layernorm/block_row; then its product
// with the weight by wgmma and tensor copies (cuda/core/hopper_gemm.cuh).
#include "cuda/core/hopper_epilogue.cuh"
#include "cuda/core/product.cuh"
#include "cuda/core/row_norm.cuh"
#include "ops/layernorm_linear.hpp"

namespace assay::ROOM(layernorm_linear, sm90_wgmma) {

using namespace row_norm;

std::size_t workspace_bytes(const layernorm_linear::Args& a) {
  return static_cast<std::size_t>(a.x.shape[0] * product::pitch(a.x.shape[1]) * size_of(a.x.dtype));
}

KERNEL(layernorm_linear){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::tokens, 128), tile(Axis::out, 256), tile(Axis::hidden, 64)},
    .numerics = {.accumulate = f32, .chain = kBlockChain, .stores_intermediate = true, .mma_terms = 16},
    .supports = [](const layernorm_linear::Args& a) { return hopper_gemm::takes({&a.weight}, a.y, a.bias.data); },
    .workspace_bytes = workspace_bytes,
};

// Arguments of the norm step.
struct Norm {
  Tensor x, gamma, beta, y;  // [tokens, hidden], [hidden], [hidden], [tokens, hidden]
  double epsilon;
};

template <class T, int N, bool kHeld>
__global__ void __launch_bounds__(kMostThreads<N>) layernorm_linear_sm90_norm(Matrices<T, Norm> m) {
  by_block<N, kHeld>(m, blockIdx.x);
}

template <class T, int N>
void run_norm(const Norm& a, const Launch& l) {
  launch_blocks<N>(layernorm_linear_sm90_norm<T, N, true>, layernorm_linear_sm90_norm<T, N, false>, matrices<T>(a), l.stream);
}

void run(const layernorm_linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const Tensor n = product::in_workspace(l.workspace, a.x.dtype, a.x.shape[0], a.x.shape[1]);
  const Norm norm{.x = a.x, .gamma = a.gamma, .beta = a.beta, .y = n, .epsilon = a.epsilon};
  with_half_type(a.x.dtype,
                 [&]<class T>(Type<T>) { wide(norm) ? run_norm<T, kPerAccess<T>>(norm, l) : run_norm<T, 1>(norm, l); });
  hopper_gemm::linear_product(hopper_gemm::FewShapes{}, n, a.weight, a.bias, a.y, l);
}

}  // namespace assay::ROOM(layernorm_linear, sm90_wgmma)
