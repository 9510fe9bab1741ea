// SPDX-License-Identifier: Apache-2.0
// FAULT: log of the sum of exp(x), no maximum taken off. Right while every exp and their sum stay within f32.
// Caught by: the class of the result, where exp overflows or underflows: large_mean_100, spread_200, all_far_below_zero.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, logsumexp_without_maximum) {

struct NoMaximum {
  float sum = 0;
  template <int N>
  __device__ void add(const float (&v)[N]) {
    for (int j = 0; j < N; ++j) sum += expf(v[j]);
  }
  __device__ void join(const NoMaximum& other) { sum += other.sum; }
  __device__ NoMaximum of_lane(int delta) const { return {shuffle_down(sum, delta)}; }
  __device__ float result() const { return logf(sum); }
};

template <class T>
struct Wrong : Plain<T> {
  using LogSumExp = NoMaximum;
};
KERNEL_FROM(row_reduce, plain, Wrong);

}  // namespace assay::ROOM(row_reduce, logsumexp_without_maximum)
