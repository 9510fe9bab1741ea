// SPDX-License-Identifier: Apache-2.0
// The plain kernel, its sums taken from the last channel to the first.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, reversed_sum) {

template <class T>
struct Reversed : Plain<T> {
  __device__ static std::int64_t channel(std::int64_t hidden, std::int64_t i) { return hidden - 1 - i; }
};
KERNEL_FROM(gemm_swiglu, plain, Reversed);

}  // namespace assay::ROOM(gemm_swiglu, reversed_sum)
