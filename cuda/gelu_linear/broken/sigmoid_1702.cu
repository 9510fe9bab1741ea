// SPDX-License-Identifier: Apache-2.0
// FAULT: GELU as z sigmoid(1.702 z), which is up to 2e-2 away.
// Caught by: the bound, on moderate z (fills unit and chosen).
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, sigmoid_1702) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float gelu(const Operands<T>&, float z, std::int64_t) { return times_sigmoid(z, 1.702f * z); }
};
KERNEL_FROM(gelu_linear, plain, Wrong);

}  // namespace assay::ROOM(gelu_linear, sigmoid_1702)
