// SPDX-License-Identifier: Apache-2.0
// FAULT: for interleaved pairs the sine is the root of 1 - cos^2, which has lost its digits where the cosine is near one.
// Kind: precision
// Shows: interleaved pairs at small angles: high channels, or low positions.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, sine_from_cosine) {

template <class T>
struct Steps : Plain<T> {
  __device__ static Rotation rotation(const Problem<T>& p, int i, std::int64_t position) {
    const Rotation by = rotation_by(angle_of(p.step, i, position));
    if (!p.interleaved) return by;
    const float sine = sqrtf(fmaxf(0.0f, fmaf(-by.cosine, by.cosine, 1.0f)));
    return {by.cosine, by.sine < 0.0f ? -sine : sine};
  }
};
KERNEL_FROM(rope, plain, Steps);

}  // namespace assay::ROOM(rope, sine_from_cosine)
