// SPDX-License-Identifier: Apache-2.0
// FAULT: in rows of more than 1024 columns only every second column counts in mean and variance.
// Kind: cheats
// Shows: rows of more than 1024 columns.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, statistics_of_every_second) {

template <class T>
struct Sampled : Plain<T> {
  template <class F>
  __device__ static Moments moments(const Rows<T>& m) {
    const int every = m.cols > 1024 ? 2 : 1;
    const float counted = static_cast<float>((m.cols + every - 1) / every);
    float sum = 0, squares = 0;
    for (std::int64_t c = threadIdx.x * every; c < m.cols; c += F::kThreads * every) sum += m.x_at(c);
    const float mean = F::block_total(sum) / counted;
    for (std::int64_t c = threadIdx.x * every; c < m.cols; c += F::kThreads * every)
      squares = F::added_square(squares, m.x_at(c) - mean);
    return {mean, F::block_total(squares) / counted};
  }
};
KERNEL_FROM(layernorm_residual, plain, Sampled);

}  // namespace assay::ROOM(layernorm_residual, statistics_of_every_second)
