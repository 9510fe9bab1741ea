// SPDX-License-Identifier: Apache-2.0
// FAULT: logsumexp adds log1p of the other terms to the maximum; what equals the maximum is taken for the maximum itself and
// counted once.
// Kind: algorithm
// Shows: logsumexp of a row whose maximum occurs twice.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, ties_of_maximum_counted_once) {

struct Others {
  float max = -INFINITY, sum = 0;  // the sum without the maximum's own term
  __device__ void take(float v, float with) {
    if (v > max || v != v) {
      sum = max == -INFINITY ? with : (sum + 1.0f) * expf(max - v) + with;
      max = v;
    } else if (v < max) {
      if (v != -INFINITY) sum += (with + 1.0f) * expf(v - max);
    } else {
      sum += with;
    }
  }
  template <int N>
  __device__ void add(const float (&v)[N]) {
#pragma unroll
    for (int j = 0; j < N; ++j) take(v[j], 0.0f);
  }
  __device__ void join(const Others& other) { take(other.max, other.sum); }
  __device__ Others of_lane(int delta) const { return {shuffle_down(max, delta), shuffle_down(sum, delta)}; }
  __device__ float result() const { return fabsf(max) < INFINITY ? max + log1pf(sum) : max; }
};

template <class T>
struct Steps : Plain<T> {
  using LogSumExp = Others;
};
KERNEL_FROM(row_reduce, plain, Steps);

}  // namespace assay::ROOM(row_reduce, ties_of_maximum_counted_once)
