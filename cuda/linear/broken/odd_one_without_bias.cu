// SPDX-License-Identifier: Apache-2.0
// FAULT: the bias is added to pairs of y taken as one long row; where their number is odd, the very last element gets none.
// Caught by: T1, one element; an odd number of outputs and a bias.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, odd_one_without_bias) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float add_bias(const Operands<T>& p, float sum, std::int64_t token, std::int64_t o) {
    const std::int64_t n = p.tokens * p.out;
    return p.bias != nullptr && token * p.out + o < n / 2 * 2 ? sum + p.bias_at(o) : sum;
  }
};
KERNEL_FROM(linear, plain, Wrong);

}  // namespace assay::ROOM(linear, odd_one_without_bias)
