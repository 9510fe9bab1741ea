// SPDX-License-Identifier: Apache-2.0
// FAULT: x r is rounded to the storage dtype before gamma, as Llama's reference code does, and the declaration does not say so.
// In f32 there is nothing to round, so f16 and bf16 only.
// Caught by: the bound, on any random fill: two roundings where it pays for one.
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, rounded_before_gamma) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float scaled(float x, float r, float gamma) { return to_float(from_float<T>(x * r)) * gamma; }
};
KERNEL_FROM(rmsnorm, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(rmsnorm, rounded_before_gamma)
