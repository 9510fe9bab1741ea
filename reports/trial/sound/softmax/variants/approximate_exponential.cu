// SPDX-License-Identifier: Apache-2.0
// A row a block, its exponentials by exp2_approx, whose subnormal results are zero, as declared.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, approximate_exponential) {

template <class T>
struct Approximate : Plain<T> {
  static __device__ float exponential(float v, std::int64_t /*row*/) { return exp2_approx(v * 1.4426950408889634f); }
};
KERNEL_DECLARING(softmax, plain, Approximate,
                 (Numerics{.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}, .flushes_subnormals = true}));

}  // namespace assay::ROOM(softmax, approximate_exponential)
