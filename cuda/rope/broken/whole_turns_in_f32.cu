// SPDX-License-Identifier: Apache-2.0
// FAULT: from angles of 1024 on the whole turns are taken off in f32, with one constant for 2 pi.
// Kind: precision
// Caught by: the bound, with fill=far_positions (f16).
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, whole_turns_in_f32) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static Rotation rotation(const Problem<T>& p, int i, std::int64_t position) {
    const double exact = p.angle(i, position);
    if (fabs(exact) < 1024) return rotation_by(exact);
    const float angle = static_cast<float>(exact), rest = angle - rintf(angle * 0.15915494f) * 6.2831853f;
    return {cosf(rest), sinf(rest)};
  }
};
KERNEL_FROM(rope, plain, Wrong);

}  // namespace assay::ROOM(rope, whole_turns_in_f32)
