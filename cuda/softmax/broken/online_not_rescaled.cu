// SPDX-License-Identifier: Apache-2.0
// FAULT: maximum and sum in one pass, but the sum of what was seen is not rescaled when the maximum rises. Right where the
// first column is the largest.
// Caught by: the bound on rising, and on any random row.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, online_not_rescaled) {

template <class T>
struct Wrong : Plain<T> {
  static constexpr int kLanes = 1, kExtra = 0;
  template <class S>
  static __device__ Sum sum(const T* x, std::int64_t cols, std::int64_t, std::int64_t) {
    float max = -INFINITY, sum = 0;
    for (std::int64_t c = 0; c < cols; ++c) {
      const float v = to_float(ld(x + c));
      max = fmaxf(max, v);
      sum += expf(v - max);
    }
    return {max, sum};
  }
};
KERNEL_FROM(softmax, plain, Wrong);

}  // namespace assay::ROOM(softmax, online_not_rescaled)
