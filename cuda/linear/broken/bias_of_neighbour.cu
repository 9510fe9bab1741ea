// SPDX-License-Identifier: Apache-2.0
// FAULT: of every pair of features both get the bias of the first.
// Caught by: the bound, wherever there is a bias and more than one feature.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, bias_of_neighbour) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float add_bias(const Operands<T>& p, float sum, std::int64_t, std::int64_t o) {
    return p.bias != nullptr ? sum + p.bias_at(o / 2 * 2) : sum;
  }
};
KERNEL_FROM(linear, plain, Wrong);

}  // namespace assay::ROOM(linear, bias_of_neighbour)
