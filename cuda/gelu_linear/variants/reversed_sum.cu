// SPDX-License-Identifier: Apache-2.0
// The plain kernel, its sum taken from the last channel to the first, the bias first.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, reversed_sum) {

template <class T>
struct Reversed : Plain<T> {
  __device__ static float first(const Operands<T>& p, std::int64_t o) { return p.bias != nullptr ? p.bias_at(o) : 0; }
  __device__ static std::int64_t channel(const Operands<T>& p, std::int64_t i) { return p.hidden - 1 - i; }
  __device__ static float add_bias(const Operands<T>&, float sum, std::int64_t) { return sum; }
};
KERNEL_FROM(gelu_linear, plain, Reversed);

}  // namespace assay::ROOM(gelu_linear, reversed_sum)
