// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum of exp is kept in the storage dtype. Right in f32, and for few entries.
// Caught by: the bound in f16 and bf16 on any random input of a few hundred entries.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, half_accumulator) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static fold::LogSumExp seen(const T* x, std::int64_t vocab) {
    float max = -INFINITY;
    for (std::int64_t v = threadIdx.x; v < vocab; v += kPlainThreads) max = fmaxf(max, to_float(ld(x + v)));
    max = block_max(max, shared_memory<float>());
    T partial = from_float<T>(0);
    for (std::int64_t v = threadIdx.x; v < vocab; v += kPlainThreads)
      partial = from_float<T>(to_float(partial) + expf(to_float(ld(x + v)) - max));
    return {max, to_float(from_float<T>(block_sum(to_float(partial), shared_memory<float>())))};
  }
};
KERNEL_FROM(cross_entropy, plain, Wrong);

}  // namespace assay::ROOM(cross_entropy, half_accumulator)
