// SPDX-License-Identifier: Apache-2.0
// FAULT: gate times up is taken first and the sigmoid after: inf where the product leaves the range and the result would not.
// Caught by: T1, on extremes.
#include "cuda/silu_mul/broken/plain.cuh"

namespace assay::ROOM(silu_mul, product_before_sigmoid) {

__device__ inline float sigmoid_times(float product, float gate) {
  const float t = expf(-fabsf(gate));
  return product * (gate < 0.0f ? t : 1.0f) / (1.0f + t);
}

template <class T>
struct Wrong : Plain<T> {
  __device__ static float value(float gate, float up, std::int64_t, std::int64_t) { return sigmoid_times(gate * up, gate); }
};
KERNEL_FROM(silu_mul, plain, Wrong, {bf16, f32});

}  // namespace assay::ROOM(silu_mul, product_before_sigmoid)
