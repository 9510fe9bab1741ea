// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum is rounded to 12 bits on its way to 16-bit storage, so it is rounded twice.
// Kind: precision
// Shows: f16, sums just beside the middle of two neighbours: they go to the farther one.
#include "cuda/residual_layernorm/broken/plain.cuh"

namespace assay::ROOM(residual_layernorm, sum_rounded_twice) {

template <class T>
struct Twice : Plain<T> {
  static __device__ T stored(float x, float residual) {
    const float sum = x + residual;
    return from_float<T>(sizeof(T) == 2 && fabsf(sum) < 1e30f ? of_12_bits(sum) : sum);
  }
  static __device__ float normed(float x, float residual) { return to_float(stored(x, residual)); }
};

KERNEL_FROM(residual_layernorm, plain, Twice);

}  // namespace assay::ROOM(residual_layernorm, sum_rounded_twice)
