// SPDX-License-Identifier: Apache-2.0
// The plain kernel, 1 / root from the bits of its argument and two steps of Newton: 79.3 units of 2^-24 at most over all
// fractions of
// two binades, to which a power of four scales it exactly; 79 count as the root's, 1 as the quotient's.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, newton_root) {

template <class T>
struct Newton : Plain<T> {
  __device__ static float inverse(const Operands<T>& p, float mean_square) {
    const float v = mean_square + p.epsilon;
    if (!(v >= 0x1p-120f && v <= 0x1p120f)) return 1.0f / sqrtf(v);
    float r = __builtin_bit_cast(float, 0x5f3759dfu - (__builtin_bit_cast(unsigned, v) >> 1));
    for (int step = 0; step < 2; ++step) r = r * fmaf(-0.5f * v * r, r, 1.5f);
    return r;
  }
};
KERNEL_DECLARING(rmsnorm_gemm, plain, Newton, (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .root_error = 79}));

}  // namespace assay::ROOM(rmsnorm_gemm, newton_root)
