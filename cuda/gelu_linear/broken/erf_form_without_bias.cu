// SPDX-License-Identifier: Apache-2.0
// FAULT: the path of the erf form does not add the bias.
// Kind: combination
// Caught by: the bound, with fill=unit (f16).
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, erf_form_without_bias) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float add_bias(const Operands<T>& p, float sum, std::int64_t o) {
    return p.erf_form ? sum : Plain<T>::add_bias(p, sum, o);
  }
};
KERNEL_FROM(gelu_linear, plain, Wrong);

}  // namespace assay::ROOM(gelu_linear, erf_form_without_bias)
