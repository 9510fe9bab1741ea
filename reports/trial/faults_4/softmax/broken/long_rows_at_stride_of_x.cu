// SPDX-License-Identifier: Apache-2.0
// FAULT: writes rows that do not fit registers at the row stride of x. Visible above 32,768 columns (16,384 if not aligned)
// where x and y have different strides.
// KIND: layout
#include "cuda/softmax/row.cuh"

namespace assay::ROOM(softmax, long_rows_at_stride_of_x) {

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
  const bool fits = m.cols <= kMostHeld<N>;
  const Matrices<T> longer{m.x, m.y, m.rows, m.cols, m.x_stride, m.x_stride};
  launch(fits ? softmax_block_row_held<T, N> : softmax_block_row_online<T, N>,
         {.grid = dim3(m.rows), .block = dim3(threads_for<N>(m.cols)), .shared_bytes = kScratchBytes}, l.stream,
         fits ? m : longer);
}

void run(const softmax::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    wide(a) ? run_width<T, kPerAccess<T>>(matrices<T>(a), l) : run_width<T, 1>(matrices<T>(a), l);
  });
}

}  // namespace assay::ROOM(softmax, long_rows_at_stride_of_x)
