// SPDX-License-Identifier: Apache-2.0
// FAULT: asks x, residual, gamma and y whether their rows start at multiples of 16 bytes, but not s, which was added to the op
// later. Visible where only s is not aligned.
// KIND: offsets
#include "cuda/core/row_norm.cuh"
#include "ops/residual_rmsnorm.hpp"

namespace assay::ROOM(residual_rmsnorm, s_not_asked) {

using namespace row_norm;

KERNEL(residual_rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile_bytes(Axis::cols, kWarp* kAccess)},  // columns: what one warp takes at once
    .numerics = {.accumulate = f32, .chain = kBlockChain},
    .supports = residual_rmsnorm::rounded_alone,
};

bool others_wide(const residual_rmsnorm::Args& a) {
  return a.x.rows_aligned(kAccess) && a.residual.rows_aligned(kAccess) && a.gamma.rows_aligned(kAccess) &&
         a.y.rows_aligned(kAccess);
}

template <class T, int N, bool kHeld>
__global__ void __launch_bounds__(kMostThreads<N>) residual_rmsnorm_block_row(Matrices<T, residual_rmsnorm::Args> m) {
  by_block<N, kHeld>(m, blockIdx.x);
}

template <class T, int N>
void run_width(const residual_rmsnorm::Args& a, const Launch& l) {
  launch_blocks<N>(residual_rmsnorm_block_row<T, N, true>, residual_rmsnorm_block_row<T, N, false>, matrices<T>(a), l.stream);
}

void run(const residual_rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) { others_wide(a) ? run_width<T, kPerAccess<T>>(a, l) : run_width<T, 1>(a, l); });
}

}  // namespace assay::ROOM(residual_rmsnorm, s_not_asked)
