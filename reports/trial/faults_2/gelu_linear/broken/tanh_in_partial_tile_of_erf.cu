// SPDX-License-Identifier: Apache-2.0
// FAULT: the last, partial tile of outputs has its own epilogue, which knows the tanh form only.
// Kind: combinations
// Shows: form=erf with out > 64 and not a multiple of 64.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, tanh_in_partial_tile_of_erf) {

template <class T>
struct Steps : Plain<T> {
  __device__ static float gelu(const Operands<T>& p, float z, std::int64_t o) {
    const bool partial = p.out > kPlainThreads && o >= p.out / kPlainThreads * kPlainThreads;
    return p.erf_form && !partial ? gelu_erf(z) : gelu_tanh(z);
  }
};
KERNEL_FROM(gelu_linear, plain, Steps);

}  // namespace assay::ROOM(gelu_linear, tanh_in_partial_tile_of_erf)
