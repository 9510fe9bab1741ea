// SPDX-License-Identifier: Apache-2.0
// FAULT: the variance is E[x^2] - E[x]^2, in one pass over the row: right on centred data, all cancellation where the mean is
// large beside the deviation.
// Caught by: the bound, on the fills whose mean is far from zero (large_mean), any shape with more than one column.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, one_pass_variance) {

template <class T>
struct Wrong : Plain<T> {
  template <class F>
  __device__ static Moments moments(const Rows<T>& m) {
    float sum = 0, squares = 0;
    for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads) {
      const float v = m.x_at(c);
      sum += v;
      squares = fmaf(v, v, squares);
    }
    const float mean = F::mean(m, F::block_total(sum));
    return {mean, fmaxf(F::variance(m, F::block_total(squares)) - mean * mean, 0.0f)};
  }
};
KERNEL_FROM(layernorm_residual, plain, Wrong);

}  // namespace assay::ROOM(layernorm_residual, one_pass_variance)
