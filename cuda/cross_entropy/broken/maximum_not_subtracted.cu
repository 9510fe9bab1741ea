// SPDX-License-Identifier: Apache-2.0
// FAULT: log of the sum of exp(x), the maximum forgotten. Right while every exp and their sum stay within f32.
// Caught by: the class of the result, where exp overflows or underflows: large_mean_100, spread_200, all_far_below_zero.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, maximum_not_subtracted) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static fold::LogSumExp seen(const T* x, std::int64_t vocab) {
    float sum = 0;
    for (std::int64_t v = threadIdx.x; v < vocab; v += kPlainThreads) sum += expf(to_float(ld(x + v)));
    return {0.0f, block_sum(sum, shared_memory<float>())};
  }
};
KERNEL_FROM(cross_entropy, plain, Wrong);

}  // namespace assay::ROOM(cross_entropy, maximum_not_subtracted)
