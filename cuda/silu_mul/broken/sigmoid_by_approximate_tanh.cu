// SPDX-License-Identifier: Apache-2.0
// FAULT: the sigmoid is 0.5 + 0.5 tanh(x/2) with a tanh of 11 bits, as tanh.approx gives it, and nothing declares it.
// Kind: precision
// Caught by: the bound, with rows=1 cols=2 (f16).
#include "cuda/silu_mul/broken/plain.cuh"

namespace assay::ROOM(silu_mul, sigmoid_by_approximate_tanh) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float value(float gate, float up, std::int64_t, std::int64_t) {
    const unsigned bits = __builtin_bit_cast(unsigned, tanhf(0.5f * gate));
    const float t = __builtin_bit_cast(float, (bits + 0x1000u) & ~0x1fffu);
    return gate * fmaf(0.5f, t, 0.5f) * up;
  }
};
KERNEL_FROM(silu_mul, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(silu_mul, sigmoid_by_approximate_tanh)
