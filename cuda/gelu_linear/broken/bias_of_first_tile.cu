// SPDX-License-Identifier: Apache-2.0
// FAULT: the bias is taken by the feature's place in its tile: every tile gets that of the first.
// Caught by: T1, with a bias and more than 64 features.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, bias_of_first_tile) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float add_bias(const Operands<T>& p, float sum, std::int64_t) {
    return Plain<T>::add_bias(p, sum, threadIdx.x);
  }
};
KERNEL_FROM(gelu_linear, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(gelu_linear, bias_of_first_tile)
