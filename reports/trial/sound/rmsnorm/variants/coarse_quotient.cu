// SPDX-License-Identifier: Apache-2.0
// A row a block, 1 / root rounded to 12 bits: half a unit of the 12th bit is 2^-12, 4096 units of 2^-24, and the division one
// more.
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, coarse_quotient) {

template <class T>
struct Coarse : Plain<T> {
  __device__ static float inverse(const Rows<T>& m, float squares) {
    const float r = Plain<T>::inverse(m, squares);
    return r != r ? r : of_12_bits(r);
  }
};
KERNEL_DECLARING(rmsnorm, plain, Coarse,
                 (Numerics{.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}, .quotient_error = 4097}),
                 {f16, bf16});

}  // namespace assay::ROOM(rmsnorm, coarse_quotient)
