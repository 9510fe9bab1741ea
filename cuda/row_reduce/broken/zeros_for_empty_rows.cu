// SPDX-License-Identifier: Apache-2.0
// FAULT: rows without columns are set to zero, whatever is asked for. Right for sums.
// Kind: range
// Caught by: the bound, with rows=3 cols=0 what=max (f16).
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, zeros_for_empty_rows) {

KERNEL(row_reduce) = plain_traits<Plain>();

__global__ void zero(float* y, std::int64_t rows) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x;
  if (i < rows) st(y + i, 0.0f);
}

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (a.x.shape[1] > 0 || rows == 0) return run_plain<Plain>(a, l);
  launch(zero, {.grid = dim3(ceil_div(rows, kPlainThreads)), .block = dim3(kPlainThreads)}, l.stream, a.y.as<float>(), rows);
}

}  // namespace assay::ROOM(row_reduce, zeros_for_empty_rows)
