// SPDX-License-Identifier: Apache-2.0
// One warp a row, the row in registers as it came: each byte of x, residual, s and y moved once, and no barrier.
// 16-byte accesses when every row starts aligned, whatever its length; else element by element.  Gives up beyond 8 KiB a row
// (1024 columns element by element): see block_row.
#include "cuda/core/row_norm.cuh"
#include "ops/residual_layernorm.hpp"

namespace assay::ROOM(residual_layernorm, warp_row) {

using namespace row_norm;

KERNEL(residual_layernorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kWarpRows), tile_bytes(Axis::cols, kWarp* kAccess)},
    .numerics = {.accumulate = f32, .chain = kWarpChain},
    .supports = fits_warp,
};

template <class T, int N, int P>
__global__ void __launch_bounds__(kWarpRows* kWarp) residual_layernorm_warp_row(Matrices<T, residual_layernorm::Args> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarpRows + warp_id();
  if (row >= m.rows) return;
  held<N, P>(m, row, Warp{});
}

void run(const residual_layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    with_warp_packs<T>(a, [&]<int N, int P>(std::integral_constant<int, N>, std::integral_constant<int, P>) {
      launch(residual_layernorm_warp_row<T, N, P>,
             {.grid = dim3(ceil_div(a.x.shape[0], kWarpRows)), .block = dim3(kWarpRows * kWarp)}, l.stream, matrices<T>(a));
    });
  });
}

}  // namespace assay::ROOM(residual_layernorm, warp_row)
