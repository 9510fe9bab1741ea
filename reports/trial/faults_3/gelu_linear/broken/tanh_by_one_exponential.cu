// SPDX-License-Identifier: Apache-2.0
// FAULT: 1 + tanh(u) is computed as 2 - 2 / (exp(2u) + 1), which cancels for negative u and is not declared.
// Kind: precision
// Shows: form tanh, negative sums.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, tanh_by_one_exponential) {

template <class T>
struct Cancels : Plain<T> {
  __device__ static float gelu(const Operands<T>& p, float z, std::int64_t) {
    if (p.erf_form) return gelu_erf(z);
    const float u = 0.7978845608028654f * z * fmaf(0.044715f, z * z, 1.0f);
    return 0.5f * z * (2.0f - 2.0f / (expf(2.0f * u) + 1.0f));
  }
};
KERNEL_FROM(gelu_linear, plain, Cancels);

}  // namespace assay::ROOM(gelu_linear, tanh_by_one_exponential)
