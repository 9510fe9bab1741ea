// SPDX-License-Identifier: Apache-2.0
// FAULT: sum beta w is left out, as where only gamma is folded into the weight.
// Caught by: the comparison wherever beta is not zero.
#include "cuda/layernorm_linear/broken/plain.cuh"

namespace assay::ROOM(layernorm_linear, beta_dropped) {

template <class T>
struct Wrong : Formula<T> {
  static __device__ float normalised(const Plain<T>& p, std::int64_t h, float d, float r) { return d * r * p.scale(h); }
};
KERNEL_FROM(layernorm_linear, plain, Wrong);

}  // namespace assay::ROOM(layernorm_linear, beta_dropped)
