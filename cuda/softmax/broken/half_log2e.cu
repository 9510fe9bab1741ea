// SPDX-License-Identifier: Apache-2.0
// FAULT: exp in base 2 with a log2(e) that was rounded to f16, 1.4424: an error of 2e-4 |x - max| in each term.
// Caught by: the bound in f32 on any random row, in f16 on rising and spread_200.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, half_log2e) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float exponential(float v, std::int64_t) { return exp2f(v * 1.4423828f); }
};
KERNEL_FROM(softmax, plain, Wrong);

}  // namespace assay::ROOM(softmax, half_log2e)
