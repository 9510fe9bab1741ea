// SPDX-License-Identifier: Apache-2.0
// The plain kernel, its sum taken from the last channel to the first.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, reversed_sum) {

template <class T>
struct Reversed : Plain<T> {
  __device__ static std::int64_t channel(const Operands<T>& p, std::int64_t i) { return p.hidden - 1 - i; }
};
KERNEL_FROM(linear, plain, Reversed);

}  // namespace assay::ROOM(linear, reversed_sum)
