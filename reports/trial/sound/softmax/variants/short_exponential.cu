// SPDX-License-Identifier: Apache-2.0
// A row a block, its exponentials by a polynomial of degree 5 on |r| <= ln 2 / 2: its rest is r^6 / 720 / e^r <= 57.2 units of
// 2^-24, with 5 more for its roundings.  Results below 2^-126 become zero.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, short_exponential) {

template <class T>
struct Short : Plain<T> {
  static __device__ float exponential(float v, std::int64_t /*row*/) {
    if (v < -87.34f) return 0.0f;
    if (v != v) return v;
    const float n = rintf(v * 1.44269504f), r = fmaf(n, -1.42860677e-6f, fmaf(n, -0.693145752f, v));
    const float p = fmaf(fmaf(fmaf(fmaf(fmaf(1 / 120.0f, r, 1 / 24.0f), r, 1 / 6.0f), r, 0.5f), r, 1.0f), r, 1.0f);
    return p * __builtin_bit_cast(float, static_cast<unsigned>(static_cast<int>(n) + 127) << 23);
  }
};
KERNEL_DECLARING(softmax, plain, Short,
                 (Numerics{.accumulate = f32,
                           .chain = {.lanes = kPlainThreads, .extra = 10},
                           .function_error = 63,
                           .flushes_subnormals = true}));

}  // namespace assay::ROOM(softmax, short_exponential)
