// SPDX-License-Identifier: Apache-2.0
// The plain kernel, both sums taken from the last channel to the first.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, reversed_sum) {

template <class T>
struct Reversed : Plain<T> {
  __device__ static std::int64_t channel(const Operands<T>& p, std::int64_t i) { return p.hidden - 1 - i; }
};
KERNEL_FROM(rmsnorm_gemm, plain, Reversed);

}  // namespace assay::ROOM(rmsnorm_gemm, reversed_sum)
