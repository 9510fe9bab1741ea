// SPDX-License-Identifier: Apache-2.0
// FAULT: the table of frequencies is rounded to bf16, as where a model is converted with all its buffers. Right for powers of 2.
// Kind: precision
// Caught by: the bound with frequencies=given, at all but the first positions.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, frequencies_in_bf16) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static Rotation rotation(const Problem<T>& p, int i, std::int64_t position) {
    if (p.frequencies == nullptr) return Plain<T>::rotation(p, i, position);
    return rotation_by(angle_of(to_float(from_float<bfloat16>(ld(p.frequencies + i))), position));
  }
};
KERNEL_FROM(rope, plain, Wrong);

}  // namespace assay::ROOM(rope, frequencies_in_bf16)
