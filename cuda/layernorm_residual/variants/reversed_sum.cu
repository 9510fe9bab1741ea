// SPDX-License-Identifier: Apache-2.0
// A row a block, its columns taken from the last to the first.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, reversed_sum) {

template <class T>
struct Reversed : Plain<T> {
  __device__ static std::int64_t column(const Rows<T>& m, std::int64_t i) { return m.cols - 1 - i; }
};
KERNEL_FROM(layernorm_residual, plain, Reversed);

}  // namespace assay::ROOM(layernorm_residual, reversed_sum)
