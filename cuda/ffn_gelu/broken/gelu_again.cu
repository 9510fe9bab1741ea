// SPDX-License-Identifier: Apache-2.0
// FAULT: GELU is taken of the output, too, as where one layer with its activation is used twice.
// Caught by: the comparison wherever y is not large and positive.
#include "cuda/ffn_gelu/broken/plain.cuh"

namespace assay::ROOM(ffn_gelu, gelu_again) {

template <class T>
struct Wrong : Plain<T> {
  __device__ float output(float sum, float bias) const { return this->activated(sum + bias); }
};
KERNEL_FROM(ffn_gelu, plain, Wrong);

}  // namespace assay::ROOM(ffn_gelu, gelu_again)
