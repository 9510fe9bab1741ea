// SPDX-License-Identifier: Apache-2.0
// A row a block, 1 / root from the bits of its argument and two steps of Newton: within 4.73e-6, 80 units of 2^-24, and some
// roundings, as declared.
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, rough_root) {

template <class T>
struct Rough : Plain<T> {
  __device__ static float inverse(const Rows<T>& m, float squares) {
    const float v = squares / static_cast<float>(m.cols) + m.epsilon;
    if (!(v >= 0x1p-120f && v <= 0x1p120f)) return 1.0f / sqrtf(v);
    float r = __builtin_bit_cast(float, 0x5f3759dfu - (__builtin_bit_cast(unsigned, v) >> 1));
    for (int step = 0; step < 2; ++step) r *= 1.5f - 0.5f * v * r * r;
    return r;
  }
};
KERNEL_DECLARING(rmsnorm, plain, Rough,
                 (Numerics{.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}, .root_error = 84}));

}  // namespace assay::ROOM(rmsnorm, rough_root)
