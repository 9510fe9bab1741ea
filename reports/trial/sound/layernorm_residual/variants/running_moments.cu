// SPDX-License-Identifier: Apache-2.0
// A row a block, whose first thread updates mean and variance value by value (Welford 1962), the last column first.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, running_moments) {

template <class T>
struct Running : Plain<T> {
  template <class F>
  __device__ static Moments moments(const Rows<T>& m) {
    float mean = 0, squares = 0;
    for (std::int64_t k = 1; threadIdx.x == 0 && k <= m.cols; ++k) {
      const float v = m.x_at(m.cols - k), before = v - mean;
      mean += before / static_cast<float>(k);
      squares = fmaf(before, v - mean, squares);
    }
    return {F::block_total(mean), F::variance(m, F::block_total(squares))};
  }
};
KERNEL_DECLARING(layernorm_residual, plain, Running,
                 (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .running_moments = true}));

}  // namespace assay::ROOM(layernorm_residual, running_moments)
