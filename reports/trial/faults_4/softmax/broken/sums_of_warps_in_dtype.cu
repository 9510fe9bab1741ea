// SPDX-License-Identifier: Apache-2.0
// FAULT: passes the sums of the warps through shared memory in the storage dtype. Right with one warp, up to 1024 columns.
// Visible in f16 and bf16 in longer rows.
// KIND: precision
#include "cuda/softmax/row.cuh"

namespace assay::ROOM(softmax, sums_of_warps_in_dtype) {

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile_bytes(Axis::cols, kWarp* kAccess)},  // columns: what one warp takes at once
    .numerics = {.accumulate = f32, .chain = kBlockChain, .flushes_subnormals = true, .rescales = kBlockRescales},
};

template <class T>
struct Threads {
  float* scratch;  // shared memory for kWarp floats
  __device__ int thread() const { return static_cast<int>(threadIdx.x); }
  __device__ int threads() const { return static_cast<int>(blockDim.x); }
  __device__ float max(float v) const { return block_max(v, scratch); }
  __device__ float sum(float v) const {
    if (threads() == kWarp) return warp_sum(v);
    T* const sums = reinterpret_cast<T*>(scratch);
    v = warp_sum(v);
    if (lane_id() == 0) st(sums + warp_id(), from_float<T>(v));
    sync_block();
    return warp_sum(lane_id() < threads() / kWarp ? to_float(ld(sums + lane_id())) : 0.0f);
  }
};

template <class T, int N>
__global__ void __launch_bounds__(kMostThreads<N>) softmax_block_row_held(Matrices<T> m) {
  held<Nothing::is_nan, N, kBatch>(m.row(blockIdx.x), Threads<T>{shared_memory<float>()});
}

template <class T, int N>
__global__ void __launch_bounds__(kMostThreads<N>) softmax_block_row_online(Matrices<T> m) {
  online<Nothing::is_nan, N, kBatch>(m.row(blockIdx.x), Threads<T>{shared_memory<float>()});
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

}  // namespace assay::ROOM(softmax, sums_of_warps_in_dtype)
