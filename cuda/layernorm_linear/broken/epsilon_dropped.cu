// SPDX-License-Identifier: Apache-2.0
// FAULT: 1 / sqrt(var), without epsilon. Right to many digits on rows of deviation 1.
// Caught by: the bound on tiny_rows; zero_rows are NaN.
#include "cuda/layernorm_linear/broken/plain.cuh"

namespace assay::ROOM(layernorm_linear, epsilon_dropped) {

template <class T>
struct Wrong : Formula<T> {
  static __device__ float inverse(Plain<T> p, std::int64_t token, float mean) {
    p.epsilon = 0;
    return p.inverse(token, mean);
  }
};
KERNEL_FROM(layernorm_linear, plain, Wrong);

}  // namespace assay::ROOM(layernorm_linear, epsilon_dropped)
