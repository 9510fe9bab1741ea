// SPDX-License-Identifier: Apache-2.0
// FAULT: beta is folded into the bias, b + W beta, and what there is no bias to fold into is lost.
// Kind: combinations
// Shows: no bias, and a beta that is not zero.
#include "cuda/layernorm_linear/broken/plain.cuh"

namespace assay::ROOM(layernorm_linear, beta_only_with_bias) {

template <class T>
struct Folded : Formula<T> {
  static __device__ float normalised(const Plain<T>& p, std::int64_t h, float d, float r) {
    return fmaf(d * r, p.scale(h), p.bias != nullptr ? p.offset(h) : 0.0f);
  }
};

KERNEL_FROM(layernorm_linear, plain, Folded);

}  // namespace assay::ROOM(layernorm_linear, beta_only_with_bias)
