// SPDX-License-Identifier: Apache-2.0
// A row a block, its terms multiplied by a reciprocal of 12 bits, as declared: half a unit of the 12th bit, and the product.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, rough_reciprocal) {

template <class T>
struct Rough : Plain<T> {
  static __device__ float quotient(float term, const Sum& by) { return term * of_12_bits(1.0f / by.sum); }
};
KERNEL_DECLARING(softmax, plain, Rough,
                 (Numerics{.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}, .quotient_error = 4097}),
                 {f16, bf16});

}  // namespace assay::ROOM(softmax, rough_reciprocal)
