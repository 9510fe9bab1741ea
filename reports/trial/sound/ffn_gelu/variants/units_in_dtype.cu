// SPDX-License-Identifier: Apache-2.0
// Two launches; what the second product takes of h is rounded to the dtype, as declared.
#include "cuda/ffn_gelu/broken/plain.cuh"

namespace assay::ROOM(ffn_gelu, units_in_dtype) {

template <class T>
struct Narrow : Plain<T> {
  __device__ float unit(float sum, float bias) const { return to_float(from_float<T>(Plain<T>::unit(sum, bias))); }
};
KERNEL_DECLARING(ffn_gelu, plain, Narrow, (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .narrow_probabilities = true}));

}  // namespace assay::ROOM(ffn_gelu, units_in_dtype)
