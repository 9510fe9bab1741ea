// SPDX-License-Identifier: Apache-2.0
// FAULT: the squares are taken of elements of s that other threads store, without a barrier before.
// Kind: concurrency
// Shows: more than 32 columns, where a block has several warps.
#include "cuda/residual_rmsnorm/broken/plain.cuh"

namespace assay::ROOM(residual_rmsnorm, squares_by_another_mapping) {

template <class T>
__global__ void residual_rmsnorm_crossed(Rows<T> m) {
  const std::int64_t row = blockIdx.x;
  const T* const x = m.x + row * m.x_stride;
  const T* const residual = m.residual + row * m.residual_stride;
  T* const s = m.s + row * m.s_stride;
  T* const y = m.y + row * m.y_stride;
  const std::int64_t threads = blockDim.x, share = ceil_div(m.cols, threads), first = threadIdx.x * share;
  const std::int64_t end = first + share < m.cols ? first + share : m.cols;
  for (std::int64_t c = threadIdx.x; c < m.cols; c += threads)
    st(s + c, from_float<T>(to_float(ld(x + c)) + to_float(ld(residual + c))));
  sync_warp();
  float squares = 0;
  for (std::int64_t c = first; c < end; ++c) squares = fmaf(to_float(ld(s + c)), to_float(ld(s + c)), squares);
  const float r = 1.0f / sqrtf(block_sum(squares, shared_memory<float>()) / static_cast<float>(m.cols) + m.epsilon);
  for (std::int64_t c = threadIdx.x; c < m.cols; c += threads)
    st(y + c, from_float<T>(to_float(ld(s + c)) * r * to_float(ld(m.gamma + c))));
}

KERNEL(residual_rmsnorm){.dtypes = kEveryType,
                         .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
                         .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 10}},
                         .supports = residual_rmsnorm::rounded_alone};

void run(const residual_rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(residual_rmsnorm_crossed<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(a.x.shape[1] <= 128 ? kWarp : kPlainThreads),
            .shared_bytes = row_norm::kScratchBytes},
           l.stream, row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(residual_rmsnorm, squares_by_another_mapping)
