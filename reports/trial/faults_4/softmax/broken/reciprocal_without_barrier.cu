// SPDX-License-Identifier: Apache-2.0
// FAULT: lets thread 0 pass the sum on to the block through shared memory, with a barrier of the warp where one of the block
// is needed. Right with one warp, up to 1024 columns. Visible in longer rows.
// KIND: concurrency
#include "cuda/softmax/row.cuh"

namespace assay::ROOM(softmax, reciprocal_without_barrier) {

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile_bytes(Axis::cols, kWarp* kAccess)},  // columns: what one warp takes at once
    .numerics = {.accumulate = f32, .chain = kBlockChain, .flushes_subnormals = true, .rescales = kBlockRescales},
};

struct Threads {
  float* scratch;  // shared memory for kWarp floats, and one more
  __device__ int thread() const { return static_cast<int>(threadIdx.x); }
  __device__ int threads() const { return static_cast<int>(blockDim.x); }
  __device__ float max(float v) const { return block_max(v, scratch); }
  __device__ float sum(float v) const {
    v = block_sum(v, scratch);
    if (threadIdx.x == 0) st(scratch + kWarp, v);
    sync_warp();
    return ld(scratch + kWarp);
  }
};

template <class T, int N>
__global__ void __launch_bounds__(kMostThreads<N>) softmax_block_row_held(Matrices<T> m) {
  held<Nothing::is_nan, N, kBatch>(m.row(blockIdx.x), Threads{shared_memory<float>()});
}

template <class T, int N>
__global__ void __launch_bounds__(kMostThreads<N>) softmax_block_row_online(Matrices<T> m) {
  online<Nothing::is_nan, N, kBatch>(m.row(blockIdx.x), Threads{shared_memory<float>()});
}

template <class T, int N>
void run_width(const Matrices<T>& m, const Launch& l) {
  launch(m.cols <= kMostHeld<N> ? softmax_block_row_held<T, N> : softmax_block_row_online<T, N>,
         {.grid = dim3(m.rows), .block = dim3(threads_for<N>(m.cols)), .shared_bytes = kScratchBytes + sizeof(float)}, l.stream,
         m);
}

void run(const softmax::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    wide(a) ? run_width<T, kPerAccess<T>>(matrices<T>(a), l) : run_width<T, 1>(matrices<T>(a), l);
  });
}

}  // namespace assay::ROOM(softmax, reciprocal_without_barrier)
