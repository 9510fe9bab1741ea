// SPDX-License-Identifier: Apache-2.0
// One warp per row, the row in registers in the storage dtype, so x, residual, s and y are moved once, without a barrier.
// 16-byte accesses if every row starts aligned, for any row length; else single elements.  Supports rows up to 8 KiB (1024
// columns if unaligned), and sum=rounded alone, since a row of f32 would take twice the registers; block_row takes the others.
#include "cuda/core/row_norm.cuh"
#include "ops/residual_rmsnorm.hpp"

namespace assay::ROOM(residual_rmsnorm, warp_row) {

using namespace row_norm;

Legality supports(const residual_rmsnorm::Args& a) {
  const Legality sum = residual_rmsnorm::rounded_alone(a);
  return sum ? fits_warp(a) : sum;
}

KERNEL(residual_rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kWarpRows), tile_bytes(Axis::cols, kWarp* kAccess)},
    .numerics = {.accumulate = f32, .chain = kWarpChain},
    .supports = supports,
};

template <class T, int N, int P>
__global__ void __launch_bounds__(kWarpRows* kWarp) residual_rmsnorm_warp_row(Matrices<T, residual_rmsnorm::Args> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarpRows + warp_id();
  if (row >= m.rows) return;
  held<N, P>(m, row, Warp{});
}

void run(const residual_rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    with_warp_packs<T>(a, [&]<int N, int P>(std::integral_constant<int, N>, std::integral_constant<int, P>) {
      launch(residual_rmsnorm_warp_row<T, N, P>,
             {.grid = dim3(ceil_div(a.x.shape[0], kWarpRows)), .block = dim3(kWarpRows * kWarp)}, l.stream, matrices<T>(a));
    });
  });
}

}  // namespace assay::ROOM(residual_rmsnorm, warp_row)
