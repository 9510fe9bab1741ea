// SPDX-License-Identifier: Apache-2.0
// FAULT: the output is summed in the storage dtype.
// Caught by: the bound on any case in f16 and bf16; right in f32.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, half_accumulator) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float added(float o, float weight, float v) { return to_float(from_float<T>(fmaf(weight, v, o))); }
};
KERNEL_FROM(paged_attention, plain, Wrong);

}  // namespace assay::ROOM(paged_attention, half_accumulator)
