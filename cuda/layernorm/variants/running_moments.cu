// SPDX-License-Identifier: Apache-2.0
// A row a block, whose first thread updates mean and variance value by value (Welford 1962), as declared.
#include "cuda/layernorm/broken/plain.cuh"

namespace assay::ROOM(layernorm, running_moments) {

template <class T>
struct Running : Plain<T> {
  template <class S>
  static __device__ Moments moments(const T* x, std::int64_t cols) {
    float mean = 0, squares = 0;
    for (std::int64_t c = 0; threadIdx.x == 0 && c < cols; ++c) {
      const float v = to_float(ld(x + c)), before = v - mean;
      mean += before / static_cast<float>(c + 1);
      squares = fmaf(before, v - mean, squares);
    }
    return {S::block_total(mean), S::block_total(squares) / static_cast<float>(cols)};
  }
};
KERNEL_DECLARING(layernorm, plain, Running, (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .running_moments = true}));

}  // namespace assay::ROOM(layernorm, running_moments)
