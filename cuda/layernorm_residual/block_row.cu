// SPDX-License-Identifier: Apache-2.0
// One block per row, the row in shared memory: any number of columns, any layout; x, residual and y are moved once.  x is staged
// while it is summed for the mean, variance and output read the stage; residual waits in registers.  16-byte accesses if every
// row starts aligned, for any row length; else single elements.  Of rows beyond 96 KiB the rest of x is read again, possibly
// from L2.
#include "cuda/layernorm_residual/row.cuh"

namespace assay::ROOM(layernorm_residual, block_row) {

KERNEL(layernorm_residual){
    .dtypes = {f16, bf16, f32},
    .min_arch = 80,  // needs its shared memory
    .tiles = {tile(Axis::rows, 1), tile_bytes(Axis::cols, kWarp* kAccess)},  // columns: what one warp takes at once
    .numerics = {.accumulate = f32, .chain = kBlockChain},
};

template <class T, int N>
__global__ void __launch_bounds__(kMaxThreads) layernorm_residual_block_row(Matrices<T> m, std::int64_t staged) {
  normalise_row<T, N, true>(m, blockIdx.x, staged);
}

template <class T, int N>
void run_width(const layernorm_residual::Args& a, const Launch& l) {
  const BlockShape shape = block_shape<T, N>(a.x.shape[1]);
  launch(layernorm_residual_block_row<T, N>,
         {.grid = dim3(a.x.shape[0]), .block = dim3(shape.threads), .shared_bytes = shape.shared_bytes}, l.stream, matrices<T>(a),
         shape.staged);
}

void run(const layernorm_residual::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  const bool wide = a.x.rows_aligned(kAccess) && a.residual.rows_aligned(kAccess) && a.y.rows_aligned(kAccess) &&
                    a.gamma.rows_aligned(kAccess) && a.beta.rows_aligned(kAccess);
  with_type(a.x.dtype, [&]<class T>(Type<T>) { wide ? run_width<T, kPerAccess<T>>(a, l) : run_width<T, 1>(a, l); });
}

}  // namespace assay::ROOM(layernorm_residual, block_row)
