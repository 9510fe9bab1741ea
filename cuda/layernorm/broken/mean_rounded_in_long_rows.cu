// SPDX-License-Identifier: Apache-2.0
// FAULT: rows of more than 2048 columns are done by two launches, and the mean is handed over in the storage dtype.
// Kind: precision
// Caught by: the bound, with rows=1 cols=4097 (bf16).
#include "cuda/layernorm/broken/plain.cuh"

namespace assay::ROOM(layernorm, mean_rounded_in_long_rows) {

template <class T>
struct Wrong : Plain<T> {
  template <class S>
  static __device__ Moments moments(const T* x, std::int64_t cols) {
    float sum = 0, squares = 0;
    for (std::int64_t c = threadIdx.x; c < cols; c += kPlainThreads) sum += to_float(ld(x + c));
    float mean = S::block_total(sum) / S::divisor(cols);
    if (cols > 2048) mean = to_float(from_float<T>(mean));
    for (std::int64_t c = threadIdx.x; c < cols; c += kPlainThreads) {
      const float d = to_float(ld(x + c)) - mean;
      squares = fmaf(d, d, squares);
    }
    return {mean, S::block_total(squares) / S::divisor(cols)};
  }
};
KERNEL_FROM(layernorm, plain, Wrong);

}  // namespace assay::ROOM(layernorm, mean_rounded_in_long_rows)
