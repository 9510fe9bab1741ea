// SPDX-License-Identifier: Apache-2.0
// An output a thread, 1 / deviation rounded to 12 bits: half a unit of the 12th bit is 2^-12, 4096 units of 2^-24, and the
// division
// one more.
#include "cuda/layernorm_linear/broken/plain.cuh"

namespace assay::ROOM(layernorm_linear, coarse_quotient) {

template <class T>
struct Coarse : Formula<T> {
  static __device__ float inverse(const Plain<T>& p, std::int64_t token, float mean) {
    const float r = p.inverse(token, mean);
    return r != r ? r : of_12_bits(r);
  }
};
KERNEL_DECLARING(layernorm_linear, plain, Coarse, (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .quotient_error = 4097}),
                 {f16, bf16});

}  // namespace assay::ROOM(layernorm_linear, coarse_quotient)
