// SPDX-License-Identifier: Apache-2.0
// FAULT: the inverse root has 10 bits and one step of Newton's, where a root and a division are declared.
// Kind: precision
// Shows: f32, last three bits, all with one sign.
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, root_by_one_newton_step) {

template <class T>
struct Newton : Plain<T> {
  __device__ static float inverse(const Rows<T>& m, float squares) {
    const float v = squares / static_cast<float>(m.cols) + m.epsilon, exact = 1.0f / sqrtf(v);
    const float r = __builtin_bit_cast(float, (__builtin_bit_cast(unsigned, exact) + 0x2000u) & ~0x3fffu);
    return fabsf(r) < INFINITY && r > 0 ? r * fmaf(-0.5f * v * r, r, 1.5f) : r;
  }
};
KERNEL_FROM(rmsnorm, plain, Newton);

}  // namespace assay::ROOM(rmsnorm, root_by_one_newton_step)
