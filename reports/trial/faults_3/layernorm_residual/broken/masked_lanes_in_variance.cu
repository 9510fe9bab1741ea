// SPDX-License-Identifier: Apache-2.0
// FAULT: a row is padded with zeros to a multiple of 64 columns, and the padding's squared distance from the mean counts in the
// variance.
// Kind: algorithm
// Shows: columns that are no multiple of 64, in rows whose mean is not zero.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, masked_lanes_in_variance) {

template <class T>
struct Padded : Plain<T> {
  template <class F>
  __device__ static Moments moments(const Rows<T>& m) {
    const std::int64_t padded = (m.cols + 63) / 64 * 64;
    const auto at = [&](std::int64_t c) { return c < m.cols ? m.x_at(c) : 0.0f; };
    float sum = 0, squares = 0;
    for (std::int64_t c = threadIdx.x; c < padded; c += F::kThreads) sum += at(c);
    const float mean = F::mean(m, F::block_total(sum));
    for (std::int64_t c = threadIdx.x; c < padded; c += F::kThreads) squares = F::added_square(squares, at(c) - mean);
    return {mean, F::variance(m, F::block_total(squares))};
  }
};
KERNEL_FROM(layernorm_residual, plain, Padded);

}  // namespace assay::ROOM(layernorm_residual, masked_lanes_in_variance)
