// SPDX-License-Identifier: Apache-2.0
// The plain kernel with one sum of the even channels and one of the odd ones, both rounded to bf16 at every step, as is their
// sum and
// that with the bias.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, bfloat_sums_in_halves) {

template <class T>
struct Narrow : Plain<T> {
  __device__ static float rounded(float v) { return to_float(from_float<bfloat16>(v)); }
  template <class F>
  __device__ static float product(const Operands<T>& p, std::int64_t token, std::int64_t o) {
    float even = 0, odd = 0;
    for (std::int64_t h = 0; h < p.hidden; h += 2) {
      even = rounded(even + rounded(p.x_at(token, h) * p.weight_at(o, h)));
      if (h + 1 < p.hidden) odd = rounded(odd + rounded(p.x_at(token, h + 1) * p.weight_at(o, h + 1)));
    }
    return rounded(even + odd);
  }
  __device__ static float add_bias(const Operands<T>& p, float sum, std::int64_t /*token*/, std::int64_t o) {
    return p.bias != nullptr ? rounded(sum + p.bias_at(o)) : sum;
  }
};
KERNEL_DECLARING(linear, plain, Narrow, (Numerics{.accumulate = bf16, .chain = {.lanes = 2, .extra = 1}}), {f16, bf16});

}  // namespace assay::ROOM(linear, bfloat_sums_in_halves)
