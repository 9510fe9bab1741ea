// SPDX-License-Identifier: Apache-2.0
// FAULT: without a bias the tanh form is computed, whichever form is asked for.
// Kind: combinations
// Shows: form erf without a bias.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, erf_form_only_with_bias) {

template <class T>
struct Mixed : Plain<T> {
  __device__ static float gelu(const Operands<T>& p, float z, std::int64_t) {
    return p.erf_form && p.bias != nullptr ? gelu_erf(z) : gelu_tanh(z);
  }
};
KERNEL_FROM(gelu_linear, plain, Mixed);

}  // namespace assay::ROOM(gelu_linear, erf_form_only_with_bias)
