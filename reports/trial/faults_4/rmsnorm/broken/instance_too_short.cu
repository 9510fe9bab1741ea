// SPDX-License-Identifier: Apache-2.0
// FAULT: chooses the instance with 8 elements a lane for unaligned rows of up to 512 columns, of which it holds 256; packs of
// 16 bytes are chosen rightly. Visible where rows are not aligned and have 257 to 512 columns: the rest is neither summed nor
// stored.
// KIND: combinations
#include "cuda/core/row_norm.cuh"
#include "ops/rmsnorm.hpp"

namespace assay::ROOM(rmsnorm, instance_too_short) {

using namespace row_norm;

KERNEL(rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kWarpRows), tile_bytes(Axis::cols, kWarp* kAccess)},
    .numerics = {.accumulate = f32, .chain = kWarpChain},
    .supports = fits_warp,
};

template <class T, int N, int P>
__global__ void __launch_bounds__(kWarpRows* kWarp) rmsnorm_warp_row(Matrices<T, rmsnorm::Args> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarpRows + warp_id();
  if (row >= m.rows) return;
  held<N, P>(m, row, Warp{});
}

// As row_norm::with_warp_packs.
template <class T, class F>
void with_packs(const rmsnorm::Args& a, F f) {
  if (wide(a)) return with_warp_packs<T>(a, f);
  using One = std::integral_constant<int, 1>;
  if (a.x.shape[1] <= 16 * kWarp) return f(One{}, std::integral_constant<int, 8>{});
  f(One{}, std::integral_constant<int, 32>{});
}

void run(const rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    with_packs<T>(a, [&]<int N, int P>(std::integral_constant<int, N>, std::integral_constant<int, P>) {
      launch(rmsnorm_warp_row<T, N, P>, {.grid = dim3(ceil_div(a.x.shape[0], kWarpRows)), .block = dim3(kWarpRows * kWarp)},
             l.stream, matrices<T>(a));
    });
  });
}

}  // namespace assay::ROOM(rmsnorm, instance_too_short)
