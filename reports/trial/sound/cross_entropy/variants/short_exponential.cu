// SPDX-License-Identifier: Apache-2.0
// A token a block, the maximum before the sum; exp by a polynomial of degree 5 on |r| <= ln 2 / 2: its rest is r^6 / 720 / e^r
// <= 57.2
// units of 2^-24, with 5 more for its roundings.  Results below 2^-126 become zero.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, short_exponential) {

template <class T>
struct Short : Plain<T> {
  __device__ static float exponential(float v) {
    if (v < -87.34f) return 0.0f;
    if (v != v) return v;
    const float n = rintf(v * 1.44269504f), r = fmaf(n, -1.42860677e-6f, fmaf(n, -0.693145752f, v));
    const float p = fmaf(fmaf(fmaf(fmaf(fmaf(1 / 120.0f, r, 1 / 24.0f), r, 1 / 6.0f), r, 0.5f), r, 1.0f), r, 1.0f);
    return p * __builtin_bit_cast(float, static_cast<unsigned>(static_cast<int>(n) + 127) << 23);
  }
  __device__ static fold::LogSumExp seen(const T* x, std::int64_t vocab) {
    float* const partial = shared_memory<float>();
    fold::LogSumExp all;
    for (std::int64_t c = threadIdx.x; c < vocab; c += kPlainThreads) all.max = fmaxf(all.max, to_float(ld(x + c)));
    all.max = block_max(all.max, partial);
    for (std::int64_t c = threadIdx.x; c < vocab; c += kPlainThreads) all.sum += exponential(to_float(ld(x + c)) - all.max);
    all.sum = block_sum(all.sum, partial);
    return all;
  }
};
KERNEL_DECLARING(cross_entropy, plain, Short,
                 (Numerics{.accumulate = f32,
                           .chain = {.lanes = kPlainThreads, .extra = 10},
                           .function_error = 63,
                           .flushes_subnormals = true}));

}  // namespace assay::ROOM(cross_entropy, short_exponential)
