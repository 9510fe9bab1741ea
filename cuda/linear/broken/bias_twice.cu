// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum starts from the bias, and the bias is added again at the end.
// Caught by: the bound, wherever there is a bias.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, bias_twice) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float first(const Operands<T>& p, std::int64_t o) { return p.bias != nullptr ? p.bias_at(o) : 0; }
};
KERNEL_FROM(linear, plain, Wrong);

}  // namespace assay::ROOM(linear, bias_twice)
