// SPDX-License-Identifier: Apache-2.0
// FAULT: x - max is kept above -10, against an underflow that does no harm: 5e-5 instead of almost 0.
// Caught by: T1, on spread_200 and minus_infinity, in f32 on any row that spreads so far.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, difference_clamped) {

KERNEL(softmax){
    .dtypes = {f16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}},
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ float exponential(float v, std::int64_t) { return expf(fmaxf(v, -10.0f)); }
};

void run(const softmax::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(softmax, difference_clamped)
