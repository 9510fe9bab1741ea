// SPDX-License-Identifier: Apache-2.0
// FAULT: a thread that has added up more than 32 squares keeps its sum to 12 bits from then on.
// Kind: precision
// Shows: rows of more than 4096 columns.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, tail_of_squares_of_12_bits) {

template <class T>
struct Steps : Plain<T> {
  template <class F>
  __device__ static Moments moments(const Rows<T>& m) {
    float sum = 0, squares = 0;
    for (std::int64_t i = threadIdx.x; i < m.cols; i += F::kThreads) sum = F::added(sum, m.x_at(i));
    const float mean = F::mean(m, F::block_total(sum));
    int count = 0;
    for (std::int64_t i = threadIdx.x; i < m.cols; i += F::kThreads) {
      squares = F::added_square(squares, m.x_at(i) - mean);
      if (++count > 32) squares = of_12_bits(squares);
    }
    return {mean, F::variance(m, F::block_total(squares))};
  }
};
KERNEL_FROM(layernorm_residual, plain, Steps);

}  // namespace assay::ROOM(layernorm_residual, tail_of_squares_of_12_bits)
