// SPDX-License-Identifier: Apache-2.0
// FAULT: h is rounded to the storage dtype before the second product and the declaration does not say so.
// Caught by: the bound, where w2 takes most of the sum away again: cancelling.
#include "cuda/ffn_gelu/broken/plain.cuh"

namespace assay::ROOM(ffn_gelu, rounded_units) {

template <class T>
struct Wrong : Plain<T> {
  __device__ float unit(float sum, float bias) const { return to_float(from_float<T>(this->activated(sum + bias))); }
};
KERNEL_FROM(ffn_gelu, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(ffn_gelu, rounded_units)
