// SPDX-License-Identifier: Apache-2.0
// FAULT: the sums for mean and variance use the same shared floats without a barrier between reading the first and writing the
// second.
// Kind: concurrency
// Shows: more than 256 columns, from where a block has several warps.
#include "cuda/layernorm/broken/plain.cuh"

namespace assay::ROOM(layernorm, scratch_shared_by_two_sums) {

template <class T>
__device__ inline float hasty_sum(float v, float* partial, int warps) {
  v = warp_sum(v);
  if (lane_id() == 0) st(partial + warp_id(), v);
  sync_block();
  float all = 0;
  for (int w = 0; w < warps; ++w) all += ld(partial + w);
  return all;
}

template <class T>
__global__ void layernorm_hasty(Rows<T> m) {
  const T* const x = m.x + blockIdx.x * m.x_stride;
  T* const y = m.y + blockIdx.x * m.y_stride;
  const int threads = static_cast<int>(blockDim.x), warps = threads / kWarp;
  float* const partial = shared_memory<float>();
  float sum = 0, squares = 0;
  for (std::int64_t c = threadIdx.x; c < m.cols; c += threads) sum += to_float(ld(x + c));
  const float mean = hasty_sum<T>(sum, partial, warps) / static_cast<float>(m.cols);
  for (std::int64_t c = threadIdx.x; c < m.cols; c += threads) {
    const float d = to_float(ld(x + c)) - mean;
    squares = fmaf(d, d, squares);
  }
  const float r = 1.0f / sqrtf(hasty_sum<T>(squares, partial, warps) / static_cast<float>(m.cols) + m.epsilon);
  for (std::int64_t c = threadIdx.x; c < m.cols; c += threads)
    st(y + c, from_float<T>(fmaf((to_float(ld(x + c)) - mean) * r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)))));
}

KERNEL(layernorm){.dtypes = kEveryType,
                  .tiles = {tile(Axis::rows, 1), tile(Axis::cols, 8 * kWarp)},
                  .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 10}}};

void run(const layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  const std::int64_t warps = std::clamp<std::int64_t>(ceil_div(a.x.shape[1], 8 * kWarp), 1, 4);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_hasty<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(warps * kWarp), .shared_bytes = row_norm::kScratchBytes}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(layernorm, scratch_shared_by_two_sums)
