// SPDX-License-Identifier: Apache-2.0
// FAULT: rows of more than 2048 columns are done by two launches, and the mean is handed over in the storage dtype.
// Kind: precision
// Caught by: the bound, with rows=1 cols=4097 (bf16).
#include "cuda/layernorm/broken/plain.cuh"

namespace assay::ROOM(layernorm, mean_rounded_in_long_rows) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float stored_mean(float mean, std::int64_t cols) {
    return cols > 2048 ? to_float(from_float<T>(mean)) : mean;
  }
};
KERNEL_FROM(layernorm, plain, Wrong);

}  // namespace assay::ROOM(layernorm, mean_rounded_in_long_rows)
