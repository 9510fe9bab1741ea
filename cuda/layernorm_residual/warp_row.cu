// SPDX-License-Identifier: Apache-2.0
// One warp per row, the row in registers in the storage dtype, so x, residual and y are moved once, without a barrier.
// 16-byte accesses if every row starts aligned, for any row length; else single elements.  Supports rows up to 8 KiB (1024
// columns if unaligned); block_row takes longer ones.
#include "cuda/core/row_norm.cuh"
#include "ops/layernorm_residual.hpp"

namespace assay::ROOM(layernorm_residual, warp_row) {

using namespace row_norm;

KERNEL(layernorm_residual){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kWarpRows), tile_bytes(Axis::cols, kWarp* kAccess)},
    .numerics = {.accumulate = f32, .chain = kWarpChain},
    .supports = fits_warp,
};

template <class T, int N, int P>
__global__ void __launch_bounds__(kWarpRows* kWarp) layernorm_residual_warp_row(Matrices<T, layernorm_residual::Args> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarpRows + warp_id();
  if (row >= m.rows) return;
  held<N, P>(m, row, Warp{});
}

void run(const layernorm_residual::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    with_warp_packs<T>(a, [&]<int N, int P>(std::integral_constant<int, N>, std::integral_constant<int, P>) {
      launch(layernorm_residual_warp_row<T, N, P>,
             {.grid = dim3(ceil_div(a.x.shape[0], kWarpRows)), .block = dim3(kWarpRows * kWarp)}, l.stream, matrices<T>(a));
    });
  });
}

}  // namespace assay::ROOM(layernorm_residual, warp_row)
