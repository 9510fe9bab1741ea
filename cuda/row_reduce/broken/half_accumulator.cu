// SPDX-License-Identifier: Apache-2.0
// FAULT: sums and sums of squares are kept in the storage dtype. Right in f32, and for few columns.
// Caught by: the bound in f16 and bf16 on stagnation, and on any long row; near_max, whose squares f16 does not hold.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, half_accumulator) {

template <class T, bool kSquares>
struct Narrow {
  float value = 0;  // always one of T
  template <int N>
  __device__ void add(const float (&v)[N]) {
    for (int j = 0; j < N; ++j) value = to_float(from_float<T>(value + (kSquares ? v[j] * v[j] : v[j])));
  }
  __device__ void join(const Narrow& other) { value = to_float(from_float<T>(value + other.value)); }
  __device__ Narrow of_lane(int delta) const { return {shuffle_down(value, delta)}; }
  __device__ float result() const { return value; }
};

template <class T>
struct Wrong : Plain<T> {
  using Sum = Narrow<T, false>;
  using SumOfSquares = Narrow<T, true>;
};
KERNEL_FROM(row_reduce, plain, Wrong);

}  // namespace assay::ROOM(row_reduce, half_accumulator)
