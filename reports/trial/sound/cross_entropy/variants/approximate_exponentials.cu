// SPDX-License-Identifier: Apache-2.0
// A token a block, the maximum before the sum, exp by exp2_approx, whose subnormal results are zero; classes from the last to the
// first.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, approximate_exponentials) {

template <class T>
struct Approximate : Plain<T> {
  __device__ static fold::LogSumExp seen(const T* x, std::int64_t vocab) {
    float* const partial = shared_memory<float>();
    fold::LogSumExp all;
    for (std::int64_t c = vocab - 1 - threadIdx.x; c >= 0; c -= kPlainThreads) all.max = fmaxf(all.max, to_float(ld(x + c)));
    all.max = block_max(all.max, partial);
    for (std::int64_t c = vocab - 1 - threadIdx.x; c >= 0; c -= kPlainThreads)
      all.sum += exp2_approx((to_float(ld(x + c)) - all.max) * 1.4426950408889634f);
    all.sum = block_sum(all.sum, partial);
    return all;
  }
};
KERNEL_DECLARING(cross_entropy, plain, Approximate,
                 (Numerics{.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}, .flushes_subnormals = true}));

}  // namespace assay::ROOM(cross_entropy, approximate_exponentials)
