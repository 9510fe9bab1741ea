// SPDX-License-Identifier: Apache-2.0
// FAULT: the block is as large as the row needs, up to 32 warps, but 32 partial sums are always added up, also those of warps
// that are not there.
// Kind: concurrency
// Shows: fewer than 1024 columns (993 or more fill all warps): shared memory that nobody wrote.
#include "cuda/core/row_norm.cuh"
#include "ops/layernorm.hpp"

namespace assay::ROOM(layernorm, sums_of_all_warps) {

template <class T>
using Rows = row_norm::Matrices<T, layernorm::Args>;

// As block_sum, of 32 warps.
__device__ inline float total(float v, float* parts) {
  v = warp_sum(v);
  if (lane_id() == 0) st(parts + warp_id(), v);
  sync_block();
  v = warp_sum(ld(parts + lane_id()));
  sync_block();
  return v;
}

template <class T>
__global__ void layernorm_warps(Rows<T> m) {
  const T* const x = m.x + blockIdx.x * m.x_stride;
  T* const y = m.y + blockIdx.x * m.y_stride;
  float* const parts = shared_memory<float>();
  float sum = 0, squares = 0;
  for (std::int64_t c = threadIdx.x; c < m.cols; c += blockDim.x) sum += to_float(ld(x + c));
  const float mean = total(sum, parts) / static_cast<float>(m.cols);
  for (std::int64_t c = threadIdx.x; c < m.cols; c += blockDim.x) {
    const float d = to_float(ld(x + c)) - mean;
    squares = fmaf(d, d, squares);
  }
  const float r = 1.0f / sqrtf(total(squares, parts) / static_cast<float>(m.cols) + m.epsilon);
  for (std::int64_t c = threadIdx.x; c < m.cols; c += blockDim.x)
    st(y + c, from_float<T>(fmaf((to_float(ld(x + c)) - mean) * r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)))));
}

KERNEL(layernorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, 1024)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1024, .extra = 10}},
};

void run(const layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  const std::int64_t warps = std::min<std::int64_t>(ceil_div(a.x.shape[1], kWarp), 32);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_warps<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(warps * kWarp), .shared_bytes = row_norm::kScratchBytes}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(layernorm, sums_of_all_warps)
