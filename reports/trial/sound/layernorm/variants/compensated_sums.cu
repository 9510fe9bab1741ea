// SPDX-License-Identifier: Apache-2.0
// A row a block, each thread's sums with Kahan's compensation: two roundings, whatever the number of terms, so more lanes than
// a row
// can have columns and one addition, then the ten of the block.
#include "cuda/layernorm/broken/plain.cuh"

namespace assay::ROOM(layernorm, compensated_sums) {

// Note: an infinite sum makes itself NaN here, as its row is to be.
struct Kahan {
  float sum = 0, lost = 0;
  __device__ void add(float v) {
    const float term = v - lost, larger = sum + term;
    lost = (larger - sum) - term;
    sum = larger;
  }
};

template <class T>
struct Compensated : Plain<T> {
  template <class S>
  static __device__ Moments moments(const T* x, std::int64_t cols) {
    Kahan sum, squares;
    for (std::int64_t c = threadIdx.x; c < cols; c += kPlainThreads) sum.add(to_float(ld(x + c)));
    const float mean = S::block_total(sum.sum) / S::divisor(cols);
    for (std::int64_t c = threadIdx.x; c < cols; c += kPlainThreads) {
      const float d = to_float(ld(x + c)) - mean;
      squares.add(d * d);
    }
    return {mean, S::block_total(squares.sum) / S::divisor(cols)};
  }
};
KERNEL_DECLARING(layernorm, plain, Compensated,
                 (Numerics{.accumulate = f32, .chain = {.lanes = std::int64_t{1} << 40, .extra = 1 + 10}}));

}  // namespace assay::ROOM(layernorm, compensated_sums)
