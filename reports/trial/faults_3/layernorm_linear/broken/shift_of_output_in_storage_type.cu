// SPDX-License-Identifier: Apache-2.0
// FAULT: beta W^T is made first, rounded to the type of the tensors, and the sum over the normalised channels is begun with it.
// Kind: precision
// Shows: f16 and bf16; f32 is right.
#include "cuda/layernorm_linear/broken/plain.cuh"

namespace assay::ROOM(layernorm_linear, shift_of_output_in_storage_type) {

template <class T>
struct Begun : Formula<T> {
  template <class S>
  static __device__ float product(const Plain<T>& p, std::int64_t token, std::int64_t o, float mean, float r) {
    float shift = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h) shift = fmaf(p.offset(h), p.factor(o, h), shift);
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h) sum = fmaf((p.at(token, h) - mean) * r * p.scale(h), p.factor(o, h), sum);
    return sum + to_float(from_float<T>(shift));
  }
};
KERNEL_FROM(layernorm_linear, plain, Begun);

}  // namespace assay::ROOM(layernorm_linear, shift_of_output_in_storage_type)
