// SPDX-License-Identifier: Apache-2.0
// FAULT: frequency and angle are taken in f32 and the declaration does not say so. Right to the last digit near the start.
// Caught by: the bound, from some hundred tokens on; on far_positions nothing is left.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, angle_in_f32) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static Rotation rotation(const Problem<T>& p, int i, std::int64_t position) {
    const float angle = p.narrow_angle(static_cast<float>(p.step), i, position);
    return {cosf(angle), sinf(angle)};
  }
};
KERNEL_FROM(rope, plain, Wrong);

}  // namespace assay::ROOM(rope, angle_in_f32)
