// SPDX-License-Identifier: Apache-2.0
// FAULT: epsilon is added to the sum of squares and divided by the columns with it. Right where the squares are about 1.
// Kind: range
// Caught by: the bound, with rows=1 cols=2 (f32).
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, epsilon_in_the_sum) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float inverse(const Rows<T>& m, float squares) {
    return 1.0f / sqrtf((squares + m.epsilon) / static_cast<float>(m.cols));
  }
};
KERNEL_FROM(rmsnorm, plain, Wrong);

}  // namespace assay::ROOM(rmsnorm, epsilon_in_the_sum)
