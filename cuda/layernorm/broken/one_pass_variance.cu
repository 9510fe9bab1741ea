// SPDX-License-Identifier: Apache-2.0
// FAULT: the variance is E[x^2] - E[x]^2, in one pass over the row: right on centred data, all cancellation where the mean is
// large beside the deviation.
// Caught by: the bound, on the fills whose mean is far from zero (large_mean), any shape with more than one column.
#include "cuda/layernorm/broken/plain.cuh"

namespace assay::ROOM(layernorm, one_pass_variance) {

template <class T>
struct Wrong : Plain<T> {
  template <class S>
  static __device__ Moments moments(const T* x, std::int64_t cols) {
    float sum = 0, squares = 0;
    for (std::int64_t c = threadIdx.x; c < cols; c += kPlainThreads) {
      const float v = to_float(ld(x + c));
      sum += v;
      squares = fmaf(v, v, squares);
    }
    const float mean = S::block_total(sum) / static_cast<float>(cols);
    return {mean, S::block_total(squares) / static_cast<float>(cols) - mean * mean};
  }
};
KERNEL_FROM(layernorm, plain, Wrong);

}  // namespace assay::ROOM(layernorm, one_pass_variance)
