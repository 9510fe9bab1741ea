// SPDX-License-Identifier: Apache-2.0
// Two kernels, as a library would run them: the LayerNorm, rounded to the dtype, into workspace, then y = that + residual.  The
// baseline for the fused kernels, so each one is tuned: the norm is layernorm/block_row's, the addition has several 16-byte
// accesses in flight.
#include "cuda/core/pointwise.cuh"
#include "cuda/core/row_norm.cuh"
#include "ops/layernorm.hpp"
#include "ops/layernorm_residual.hpp"

namespace assay::ROOM(layernorm_residual, unfused) {

using namespace row_norm;

// Rows of the workspace start at multiples of 16 bytes for any number of columns.
std::int64_t pitch(const layernorm_residual::Args& a) {
  const std::int64_t width = kAccess / size_of(a.x.dtype);
  return ceil_div(a.x.shape[1], width) * width;
}

std::size_t workspace_bytes(const layernorm_residual::Args& a) {
  return static_cast<std::size_t>(a.x.shape[0] * pitch(a) * size_of(a.x.dtype));
}

KERNEL(layernorm_residual){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile_bytes(Axis::cols, kWarp* kAccess)},  // columns: what one warp takes at once
    .numerics = {.accumulate = f32, .chain = kBlockChain, .stores = "normalised"},
    .workspace_bytes = workspace_bytes,
};

struct Add {
  __device__ float operator()(float normalised, float residual) const { return normalised + residual; }
};

template <class T, int N, bool kHeld>
__global__ void __launch_bounds__(kMostThreads<N>) layernorm_residual_unfused_norm(Matrices<T, layernorm::Args> m) {
  by_block<N, kHeld>(m, blockIdx.x);
}

template <class T, int N>
void run_norm(const layernorm::Args& a, const Launch& l) {
  launch_blocks<N>(layernorm_residual_unfused_norm<T, N, true>, layernorm_residual_unfused_norm<T, N, false>, matrices<T>(a),
                   l.stream);
}

void run(const layernorm_residual::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  layernorm::Args norm{.x = a.x, .gamma = a.gamma, .beta = a.beta, .y = a.y, .epsilon = a.epsilon};
  norm.y.data = l.workspace;
  norm.y.stride[0] = pitch(a);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    wide(norm) ? run_norm<T, kPerAccess<T>>(norm, l) : run_norm<T, 1>(norm, l);
    pointwise::binary<T>({norm.y.as<T>(), pitch(a)}, {a.residual.as<T>(), a.residual.stride[0]}, a.y.as<T>(), a.y.stride[0], rows,
                         cols, Add{}, l.stream);
  });
}

}  // namespace assay::ROOM(layernorm_residual, unfused)
