// SPDX-License-Identifier: Apache-2.0
// FAULT: the maximum by fmaxf, which prefers any number to a NaN.
// Caught by: the class of the result with what=max on nan_in_row.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, nan_lost) {

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kPlainThreads, .extra = 10},
                 .rescales = {.lanes = kPlainThreads, .extra = 10}},
};

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

void run(const row_reduce::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(row_reduce, nan_lost)
