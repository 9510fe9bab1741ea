// SPDX-License-Identifier: Apache-2.0
// FAULT: the sums take the row in packs of four and leave out the cols % 4 elements that remain, which are normalised all
// the same.
// Caught by: the bound, on any random fill with cols % 4 != 0, the plainer the fewer the columns.
#include "cuda/core/row_norm.cuh"
#include "ops/layernorm.hpp"

namespace assay::ROOM(layernorm, tail_not_summed) {

inline constexpr int kThreads = 128;

KERNEL(layernorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}},
};

template <class T>
__global__ void layernorm_tail_not_summed(row_norm::Matrices<T, layernorm::Args> m) {
  const std::int64_t row = blockIdx.x;
  const T* const x = m.x + row * m.x_stride;
  T* const y = m.y + row * m.y_stride;
  float* const partial = shared_memory<float>();

  const std::int64_t whole = m.cols / 4 * 4;
  float sum = 0;
  for (std::int64_t c = threadIdx.x; c < whole; c += kThreads) sum += to_float(ld(x + c));
  const float mean = block_sum(sum, partial) / static_cast<float>(m.cols);

  float squares = 0;
  for (std::int64_t c = threadIdx.x; c < whole; c += kThreads) {
    const float d = to_float(ld(x + c)) - mean;
    squares = fmaf(d, d, squares);
  }
  const float r = 1.0f / sqrtf(block_sum(squares, partial) / static_cast<float>(m.cols) + m.epsilon);

  for (std::int64_t c = threadIdx.x; c < m.cols; c += kThreads)
    st(y + c, from_float<T>(fmaf((to_float(ld(x + c)) - mean) * r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)))));
}

void run(const layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_tail_not_summed<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = row_norm::kScratchBytes}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(layernorm, tail_not_summed)
