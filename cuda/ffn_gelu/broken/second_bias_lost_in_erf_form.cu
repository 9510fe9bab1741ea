// SPDX-License-Identifier: Apache-2.0
// FAULT: the path of the erf form does not add b2.
// Kind: combination
// Caught by: the bound, with fill=unit (f16).
#include "cuda/ffn_gelu/broken/plain.cuh"

namespace assay::ROOM(ffn_gelu, second_bias_lost_in_erf_form) {

template <class T>
struct Wrong : Plain<T> {
  __device__ float output(float sum, float bias) const { return this->form == Activation::gelu_erf ? sum : sum + bias; }
};
KERNEL_FROM(ffn_gelu, plain, Wrong);

}  // namespace assay::ROOM(ffn_gelu, second_bias_lost_in_erf_form)
