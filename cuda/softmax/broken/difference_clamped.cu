// SPDX-License-Identifier: Apache-2.0
// FAULT: x - max is kept above -10, against an underflow that does no harm: 5e-5 instead of almost 0.
// Caught by: T1, on spread_200 and minus_infinity, in f32 on any row that spreads so far.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, difference_clamped) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float exponential(float v, std::int64_t) { return expf(fmaxf(v, -10.0f)); }
};
KERNEL_FROM(softmax, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(softmax, difference_clamped)
