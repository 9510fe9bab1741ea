// SPDX-License-Identifier: Apache-2.0
// FAULT: the maximum by fmaxf, which prefers any number to a NaN.
// Caught by: the class of the result with what=max on nan_in_row.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, nan_lost) {

struct Fmax {
  float value = -INFINITY;
  template <int N>
  __device__ void add(const float (&v)[N]) {
    for (int j = 0; j < N; ++j) value = fmaxf(value, v[j]);
  }
  __device__ void join(const Fmax& other) { value = fmaxf(value, other.value); }
  __device__ Fmax of_lane(int delta) const { return {shuffle_down(value, delta)}; }
  __device__ float result() const { return value; }
};

template <class T>
struct Wrong : Plain<T> {
  using Max = Fmax;
};
KERNEL_FROM(row_reduce, plain, Wrong);

}  // namespace assay::ROOM(row_reduce, nan_lost)
