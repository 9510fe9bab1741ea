// SPDX-License-Identifier: Apache-2.0
// FAULT: 1e-6 is added to the sum, against a division by zero that cannot happen: the sum is at least 1.
// Caught by: the exact probe probe_hot in f32, where y is a power of two; a bound on a sum of many terms does not see it.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, epsilon_in_denominator) {

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}},
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ float quotient(float term, float sum) { return term / (sum + 1e-6f); }
};

void run(const softmax::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(softmax, epsilon_in_denominator)
