// SPDX-License-Identifier: Apache-2.0
// FAULT: b1 is added to gelu(x W1^T).
// Caught by: the comparison with bias=yes.
#include "cuda/ffn_gelu/broken/plain.cuh"

namespace assay::ROOM(ffn_gelu, bias_after_gelu) {

template <class T>
struct Wrong : Plain<T> {
  __device__ float unit(float sum, float bias) const { return this->activated(sum) + bias; }
};
KERNEL_FROM(ffn_gelu, plain, Wrong);

}  // namespace assay::ROOM(ffn_gelu, bias_after_gelu)
