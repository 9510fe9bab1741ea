// SPDX-License-Identifier: Apache-2.0
// One kernel per step, as a library without this op would run it: the maximum of each row; e = exp(x - max), rounded to the
// dtype, into y, and its sum; y = e / sum.  Maxima and sums are kept in f32.
// The baseline for the fused kernels: one block per row, several 16-byte accesses in flight.
#include "cuda/softmax/row.cuh"

namespace assay::ROOM(softmax, unfused) {

std::size_t workspace_bytes(const softmax::Args& a) { return static_cast<std::size_t>(2 * a.x.shape[0]) * sizeof(float); }

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile_bytes(Axis::cols, kWarp* kAccess)},  // columns: what one warp takes at once
    .numerics = {.accumulate = f32, .chain = kBlockChain, .stores = "exps", .flushes_subnormals = true},
    .workspace_bytes = workspace_bytes,
};

template <class T, int N>
__global__ void __launch_bounds__(kMostThreads<N>) softmax_unfused_max(Matrices<T> m, float* max_of_row) {
  const T* const x = m.x + blockIdx.x * m.x_stride;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const std::int64_t packs = m.cols / N, tail = tail_column<N>(m.cols, thread);
  float max = -INFINITY, v[kBatch];
  each_batch<N, kBatch>(packs, threads, [&](std::int64_t first, int left) {
    load_batch<T, N>(v, x + first, left, thread, threads);
    max = fmaxf(max, max_of(v));
  });
  if (tail < m.cols) max = fmaxf(max, to_float(ld(x + tail)));
  max = block_max(max, shared_memory<float>());
  if (thread == 0) st(max_of_row + blockIdx.x, max);
}

template <class T, int N>
__global__ void __launch_bounds__(kMostThreads<N>)
    softmax_unfused_exp(Matrices<T> m, const float* max_of_row, float* sum_of_row) {
  const T* const x = m.x + blockIdx.x * m.x_stride;
  T* const y = m.y + blockIdx.x * m.y_stride;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const std::int64_t packs = m.cols / N, tail = tail_column<N>(m.cols, thread);
  const float max = ld(max_of_row + blockIdx.x);
  float sum = 0, v[kBatch];
  each_batch<N, kBatch>(packs, threads, [&](std::int64_t first, int left) {
    load_batch<T, N>(v, x + first, left, thread, threads);
#pragma unroll
    for (int i = 0; i < kBatch; ++i) v[i] = exponential<T>(v[i] - max);
    sum += sum_of(v);
    store_batch<T, N>(y + first, v, left, thread, threads);
  });
  if (tail < m.cols) {
    const float e = exponential<T>(to_float(ld(x + tail)) - max);
    sum += e;
    st(y + tail, from_float<T>(e));
  }
  sum = block_sum(sum, shared_memory<float>());
  if (thread == 0) st(sum_of_row + blockIdx.x, sum);
}

template <class T, int N>
__global__ void __launch_bounds__(kMostThreads<N>) softmax_unfused_divide(Matrices<T> m, const float* sum_of_row) {
  T* const y = m.y + blockIdx.x * m.y_stride;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const std::int64_t packs = m.cols / N, tail = tail_column<N>(m.cols, thread);
  const float r = 1.0f / ld(sum_of_row + blockIdx.x);
  float v[kBatch];
  each_batch<N, kBatch>(packs, threads, [&](std::int64_t first, int left) {
    load_batch<T, N>(v, y + first, left, thread, threads);
#pragma unroll
    for (int i = 0; i < kBatch; ++i) v[i] *= r;
    store_batch<T, N>(y + first, v, left, thread, threads);
  });
  if (tail < m.cols) st(y + tail, from_float<T>(to_float(ld(y + tail)) * r));
}

template <class T, int N>
void run_width(const Matrices<T>& m, const Launch& l) {
  const LaunchConfig config{.grid = dim3(m.rows), .block = dim3(threads_for<N>(m.cols)), .shared_bytes = kScratchBytes};
  float* const max_of_row = static_cast<float*>(l.workspace);
  float* const sum_of_row = max_of_row + m.rows;
  launch(softmax_unfused_max<T, N>, config, l.stream, m, max_of_row);
  launch(softmax_unfused_exp<T, N>, config, l.stream, m, max_of_row, sum_of_row);
  launch(softmax_unfused_divide<T, N>, config, l.stream, m, sum_of_row);
}

void run(const softmax::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    wide(a) ? run_width<T, kPerAccess<T>>(matrices<T>(a), l) : run_width<T, 1>(matrices<T>(a), l);
  });
}

}  // namespace assay::ROOM(softmax, unfused)
