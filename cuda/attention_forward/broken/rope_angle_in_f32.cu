// SPDX-License-Identifier: Apache-2.0
// FAULT: angles are made in f32, position times frequency, and err by 2^-23 of themselves: by more, the further out.
// Caught by: the bound, in f32 with rope at positions like 131071; right at small ones, and in 16 bits, which see less.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, rope_angle_in_f32) {

struct RopeInF32 : Rope {
  __device__ Rotation rotation(int i, int position) const {
    const float angle = static_cast<float>(offset + position) * exp2f(static_cast<float>(-step) * static_cast<float>(i));
    return {cosf(angle), sinf(angle)};
  }
};

template <class T>
struct Wrong : Turned<T> {
  static __device__ float dot(const Problem<T>& p, const T* q, const T* k, int query, int key) {
    return rotated_dot(RopeInF32{p.rope}, p.dim, q, k, p.place(query), key);
  }
};
KERNEL_FROM(attention_forward, plain, Wrong, {f32});

}  // namespace assay::ROOM(attention_forward, rope_angle_in_f32)
