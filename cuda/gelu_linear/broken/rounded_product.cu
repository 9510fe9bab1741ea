// SPDX-License-Identifier: Apache-2.0
// FAULT: the product is rounded to the storage dtype before GELU and the declaration does not say so.
// Caught by: the bound, where |z gelu'(z)| is above |gelu(z)|: left of GELU's minimum.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, rounded_product) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float gelu(const Operands<T>& p, float z, std::int64_t o) {
    return Plain<T>::gelu(p, to_float(from_float<T>(z)), o);
  }
};
KERNEL_FROM(gelu_linear, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(gelu_linear, rounded_product)
