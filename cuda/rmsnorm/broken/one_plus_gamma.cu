// SPDX-License-Identifier: Apache-2.0
// FAULT: in bf16 the weight is 1 + gamma, as Gemma's checkpoints have it; these hold gamma itself.
// Caught by: the bound, on any fill.
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, one_plus_gamma) {

template <class T>
struct Wrong : Plain<T> {
  static constexpr float kOffset = std::is_same_v<T, bfloat16> ? 1.0f : 0.0f;
  __device__ static float scaled(float x, float r, float gamma) { return x * r * (kOffset + gamma); }
};
KERNEL_FROM(rmsnorm, plain, Wrong);

}  // namespace assay::ROOM(rmsnorm, one_plus_gamma)
