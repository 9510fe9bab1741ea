// SPDX-License-Identifier: Apache-2.0
// A row a block: each thread has a maximum and a sum of its own, and every exponent is one FMA, x c - (m c), c = log2(e).
// Note: m c must stay small, since its rounding error is an exponent; from |m| = 1024 on the difference is taken first.
#include "cuda/core/exponential.cuh"
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, online_fused_exponent) {

template <class T>
struct Online : Plain<T> {
  static __device__ float power(float v, float max) {
    return fabsf(max) < 1024 ? exp2f(fmaf(v, kLog2E, -(max * kLog2E))) : exp2f((v - max) * kLog2E);
  }
  template <class S>
  static __device__ float term(float v, float max) {
    return power(v, max);
  }
  template <class S>
  static __device__ Sum sum(const T* x, std::int64_t cols, std::int64_t lane) {
    float max = -INFINITY, sum = 0;
    for (std::int64_t c = lane; c < cols; c += S::kLanes) {
      const float v = to_float(ld(x + c));
      if (v > max) {
        sum = sum * power(max, v) + power(v, v);
        max = v;
      } else if (!(v == -INFINITY)) sum += power(v, max);
    }
    const float of_row = S::group_max(max);
    return {of_row, S::group_sum(max == of_row ? sum : sum * power(max, of_row))};
  }
};
KERNEL_DECLARING(softmax, plain, Online,
                 (Numerics{.accumulate = f32,
                           .chain = {.lanes = kPlainThreads, .extra = 10},
                           .fused_exponent = true,
                           .rescales = {.lanes = kPlainThreads, .extra = 1}}));

}  // namespace assay::ROOM(softmax, online_fused_exponent)
