// SPDX-License-Identifier: Apache-2.0
// One block per row, any number of columns.  Rows up to 32,768 columns (unaligned: 16,384) stay in registers as floats: x and y
// are moved once, each exp is computed once.  Longer rows: an online pass keeps a maximum and a sum per thread, rescaled when a
// batch of 32 columns raises the maximum; the row is read again, possibly from L2, for the output.  16-byte accesses if every row
// starts aligned, for any row length; else single elements.
#include "cuda/softmax/row.cuh"

namespace assay::ROOM(softmax, block_row) {

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile_bytes(Axis::cols, kWarp* kAccess)},  // columns: what one warp takes at once
    .numerics = {.accumulate = f32, .chain = kBlockChain, .flushes_subnormals = true, .rescales = kBlockRescales},
};

template <class T, int N>
__global__ void __launch_bounds__(kMostThreads<N>) softmax_block_row_held(Matrices<T> m) {
  held<Nothing::is_nan, N, kBatch>(m.row(blockIdx.x), Block{shared_memory<float>()});
}

template <class T, int N>
__global__ void __launch_bounds__(kMostThreads<N>) softmax_block_row_online(Matrices<T> m) {
  online<Nothing::is_nan, N, kBatch>(m.row(blockIdx.x), Block{shared_memory<float>()});
}

template <class T, int N>
void run_width(const Matrices<T>& m, const Launch& l) {
  launch(m.cols <= kMostHeld<N> ? softmax_block_row_held<T, N> : softmax_block_row_online<T, N>,
         {.grid = dim3(m.rows), .block = dim3(threads_for<N>(m.cols)), .shared_bytes = kScratchBytes}, l.stream, m);
}

void run(const softmax::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    wide(a) ? run_width<T, kPerAccess<T>>(matrices<T>(a), l) : run_width<T, 1>(matrices<T>(a), l);
  });
}

}  // namespace assay::ROOM(softmax, block_row)
