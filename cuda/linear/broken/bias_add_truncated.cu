// SPDX-License-Identifier: Apache-2.0
// FAULT: the bias is added with rounding towards zero, half an ulp of f32 short on average.
// Caught by: the aggregates alone (errors of one sign), wherever there is a bias: every element is within its bound.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, bias_add_truncated) {

__device__ inline float add_towards_zero(float a, float b) {
  const double exact = static_cast<double>(a) + static_cast<double>(b);
  const float nearest = static_cast<float>(exact);
  const bool larger = fabs(static_cast<double>(nearest)) > fabs(exact);
  return larger ? __builtin_bit_cast(float, __builtin_bit_cast(unsigned, nearest) - 1) : nearest;
}

template <class T>
struct Wrong : Plain<T> {
  __device__ static float add_bias(const Operands<T>& p, float sum, std::int64_t, std::int64_t o) {
    return p.bias != nullptr ? add_towards_zero(sum, p.bias_at(o)) : sum;
  }
};
KERNEL_FROM(linear, plain, Wrong, {f32});

}  // namespace assay::ROOM(linear, bias_add_truncated)
