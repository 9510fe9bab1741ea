// SPDX-License-Identifier: Apache-2.0
// FAULT: the bias is added to GELU of the product.
// Caught by: the bound, wherever there is a bias.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, bias_after_gelu) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float add_bias(const Operands<T>&, float sum, std::int64_t) { return sum; }
  __device__ static float gelu(const Operands<T>& p, float z, std::int64_t o) {
    return Plain<T>::add_bias(p, Plain<T>::gelu(p, z, o), o);
  }
};
KERNEL_FROM(gelu_linear, plain, Wrong);

}  // namespace assay::ROOM(gelu_linear, bias_after_gelu)
