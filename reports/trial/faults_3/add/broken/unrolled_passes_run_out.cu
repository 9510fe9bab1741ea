// SPDX-License-Identifier: Apache-2.0
// FAULT: the grid is capped at 96 blocks and a thread makes four passes over the matrix, so elements from 98304 on are never
// written.
// Kind: offsets
// Shows: matrices of more than 98304 elements.
#include "cuda/add/broken/plain.cuh"

namespace assay::ROOM(add, unrolled_passes_run_out) {

inline constexpr int kMostBlocks = 96, kPasses = 4;

template <class T>
__global__ void add_four_passes(Matrices<T> m) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kPlainThreads;
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x;
#pragma unroll
  for (int pass = 0; pass < kPasses; ++pass, i += step) {
    if (i >= m.rows * m.cols) return;
    const std::int64_t row = i / m.cols, col = i % m.cols;
    m.store(row, col, m.a_at(row, col) + m.b_at(row, col));
  }
}

KERNEL(add) = plain_traits<Plain>();

void run(const add::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  const std::int64_t blocks = std::min<std::int64_t>(ceil_div(rows * cols, kPlainThreads * kPasses), kMostBlocks);
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    const Matrices<T> m{a.a.as<T>(), a.b.as<T>(), a.y.as<T>(), rows, cols, a.a.stride[0], a.b.stride[0], a.y.stride[0]};
    launch(add_four_passes<T>, {.grid = dim3(blocks), .block = dim3(kPlainThreads)}, l.stream, m);
  });
}

}  // namespace assay::ROOM(add, unrolled_passes_run_out)
