// SPDX-License-Identifier: Apache-2.0
// The plain kernel with four sums side by side, each rounded to f16 at every step, then joined in pairs, as declared.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, half_sums_in_lanes) {

template <class T>
struct Narrow : Plain<T> {
  __device__ static float rounded(float v) { return to_float(from_float<half>(v)); }
  template <class F>
  __device__ static float product(const Operands<T>& p, std::int64_t token, std::int64_t o) {
    float sum[4] = {};
    for (std::int64_t h = 0; h < p.hidden; h += 4) {
#pragma unroll
      for (int j = 0; j < 4; ++j)
        if (h + j < p.hidden) sum[j] = rounded(sum[j] + rounded(p.x_at(token, h + j) * p.weight_at(o, h + j)));
    }
    return rounded(rounded(sum[0] + sum[1]) + rounded(sum[2] + sum[3]));
  }
};
KERNEL_DECLARING(linear, plain, Narrow, (Numerics{.accumulate = f16, .chain = {.lanes = 4, .extra = 2}}), {f16});

}  // namespace assay::ROOM(linear, half_sums_in_lanes)
