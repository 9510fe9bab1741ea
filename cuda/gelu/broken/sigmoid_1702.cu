// SPDX-License-Identifier: Apache-2.0
// FAULT: GELU as x sigmoid(1.702 x), which is up to 2e-2 away.
// Caught by: the bound, on any moderate x.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, sigmoid_1702) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float gelu(float z, bool) { return times_sigmoid(z, 1.702f * z); }
};
KERNEL_FROM(gelu, plain, Wrong);

}  // namespace assay::ROOM(gelu, sigmoid_1702)
