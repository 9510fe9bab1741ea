// SPDX-License-Identifier: Apache-2.0
// FAULT: the exponential is 2^n times a Taylor polynomial of degree four: its error is 4e-5, while one of 4 units of 2^-24 is
// declared.
// Kind: precision
// Shows: f32, a gate whose logarithm to base two is near half way between whole numbers.
#include "cuda/silu_mul/broken/plain.cuh"

namespace assay::ROOM(silu_mul, exponential_of_degree_four) {

__device__ inline float exponential(float v) {
  const float t = fmaxf(v * 1.4426950408889634f, -126.0f), whole = rintf(t), x = (t - whole) * 0.6931471805599453f;
  const float p = fmaf(fmaf(fmaf(fmaf(x, 1 / 24.0f, 1 / 6.0f), x, 0.5f), x, 1.0f), x, 1.0f);
  return ldexpf(p, static_cast<int>(whole));
}

template <class T>
struct Cheap : Plain<T> {
  __device__ static float value(float gate, float up, std::int64_t /*col*/, std::int64_t /*cols*/) {
    if (!(fabsf(gate) < 80.0f)) return silu(gate) * up;
    const float t = exponential(-fabsf(gate));
    return (gate < 0.0f ? gate * t : gate) / (1.0f + t) * up;
  }
};

KERNEL_FROM(silu_mul, plain, Cheap);

}  // namespace assay::ROOM(silu_mul, exponential_of_degree_four)
