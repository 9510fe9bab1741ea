// SPDX-License-Identifier: Apache-2.0
// FAULT: a warp takes four rows, but mean and 1/deviation are computed before its loop: of the first row, for all.
// Caught by: the bound, on any random fill with more than one row; right where all rows are permutations of each other.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, first_row_statistics) {

inline constexpr int kThreads = 32, kRows = 4;

KERNEL(layernorm_residual){
    .dtypes = kEveryType,
    .tiles = {tile(Axis::rows, kRows), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 5}},
};

template <class T>
struct Warp : Plain<T> {
  static constexpr int kThreads = 32;
  __device__ static float block_total(float v) { return warp_sum(v); }
};

template <class T, class F>
__global__ void first_row_statistics(Rows<T> m) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kRows;
  Rows<T> row = m;
  F::advance(row, first);
  const Moments of = F::template moments<F>(row);
  for (std::int64_t i = first; i < m.rows && i < first + kRows; ++i) {
    F::template write<F>(row, of.mean, F::inverse(m, of.variance));
    F::advance(row, 1);
  }
}

void run(const layernorm_residual::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(first_row_statistics<T, Warp<T>>, {.grid = dim3(ceil_div(a.x.shape[0], kRows)), .block = dim3(kThreads)}, l.stream,
           rows_of<T>(a));
  });
}

}  // namespace assay::ROOM(layernorm_residual, first_row_statistics)
