// SPDX-License-Identifier: Apache-2.0
// FAULT: a thread keeps its sum in f16 from its 33rd column on, where a second loop in half takes over: right up to 4096
// columns.
// Kind: precision
// Caught by: the bound, with rows=1 cols=8193 (f16).
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, tail_summed_in_half) {

struct alignas(8) LateHalf {
  float value = 0;
  int taken = 0;
  template <int N>
  __device__ void add(const float (&v)[N]) {
    for (int j = 0; j < N; ++j) {
      value += v[j];
      if (++taken > 32) value = to_float(from_float<half>(value));
    }
  }
  __device__ void join(const LateHalf& other) { value += other.value; }
  __device__ LateHalf of_lane(int delta) const { return {shuffle_down(value, delta), 0}; }
  __device__ float result() const { return value; }
};

template <class T>
struct Wrong : Plain<T> {
  using Sum = LateHalf;
};
KERNEL_FROM(row_reduce, plain, Wrong);

}  // namespace assay::ROOM(row_reduce, tail_summed_in_half)
