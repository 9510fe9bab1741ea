// SPDX-License-Identifier: Apache-2.0
// FAULT: y is kept within f16's range, 65504, against infinities: in every dtype, and where f16 should overflow.
// Kind: range
// Caught by: the bound, with fill=wide_range (f16), in edges alone.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, clamped_to_half_range) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static void store(const Operands<T>&, T* y, float v) {
    st(y, from_float<T>(v > 65504.0f ? 65504.0f : v < -65504.0f ? -65504.0f : v));
  }
};
KERNEL_FROM(linear, plain, Wrong);

}  // namespace assay::ROOM(linear, clamped_to_half_range)
