// SPDX-License-Identifier: Apache-2.0
// One block per row, any number of columns, any layout.  Rows up to 64 KiB (8,192 columns if unaligned) stay in registers in the
// storage dtype, so x and y are moved once; longer rows are read again for each pass.  16-byte accesses if every row starts
// aligned, for any row length; else single elements.
#include "cuda/core/row_norm.cuh"
#include "ops/layernorm.hpp"

namespace assay::ROOM(layernorm, block_row) {

using namespace row_norm;

KERNEL(layernorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile_bytes(Axis::cols, kWarp* kAccess)},  // columns: what one warp takes at once
    .numerics = {.accumulate = f32, .chain = kBlockChain},
};

template <class T, int N, bool kHeld>
__global__ void __launch_bounds__(kMostThreads<N>) layernorm_block_row(Matrices<T, layernorm::Args> m) {
  next_grid_may_start();
  by_block<N, kHeld>(m, blockIdx.x);
}

template <class T, int N>
void run_width(const layernorm::Args& a, const Launch& l) {
  launch_blocks<N>(layernorm_block_row<T, N, true>, layernorm_block_row<T, N, false>, matrices<T>(a), l.stream, l.after);
}

void run(const layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) { wide(a) ? run_width<T, kPerAccess<T>>(a, l) : run_width<T, 1>(a, l); });
}

}  // namespace assay::ROOM(layernorm, block_row)
