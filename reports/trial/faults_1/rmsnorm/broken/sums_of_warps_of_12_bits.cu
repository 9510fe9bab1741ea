// SPDX-License-Identifier: Apache-2.0
// FAULT: the warps hand each other their sums of squares in 12 bits, packed with a row number; sums in f32 are declared.
// Kind: precision
// Shows: f32, any row of more than 32 columns.
#include "cuda/core/kernel_family.cuh"
#include "cuda/core/row_norm.cuh"
#include "ops/rmsnorm.hpp"

namespace assay::ROOM(rmsnorm, sums_of_warps_of_12_bits) {

inline constexpr int kThreads = 128;
template <class T>
using Rows = row_norm::Matrices<T, rmsnorm::Args>;

template <class T>
__global__ void rmsnorm_parts(Rows<T> m) {
  const T* const x = m.x + blockIdx.x * m.x_stride;
  T* const y = m.y + blockIdx.x * m.y_stride;
  float* const parts = shared_memory<float>();
  float squares = 0;
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads) squares = fmaf(to_float(ld(x + c)), to_float(ld(x + c)), squares);
  squares = warp_sum(squares);
  if (lane_id() == 0) st(parts + warp_id(), fabsf(squares) < 1e38f ? of_12_bits(squares) : squares);
  sync_block();
  squares = 0;
  for (int w = 0; w < kThreads / kWarp; ++w) squares += ld(parts + w);
  const float r = 1.0f / sqrtf(squares / static_cast<float>(m.cols) + m.epsilon);
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads)
    st(y + c, from_float<T>(to_float(ld(x + c)) * r * to_float(ld(m.gamma + c))));
}

KERNEL(rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 9}},
};

void run(const rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rmsnorm_parts<T>, {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = row_norm::kScratchBytes},
           l.stream, row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(rmsnorm, sums_of_warps_of_12_bits)
