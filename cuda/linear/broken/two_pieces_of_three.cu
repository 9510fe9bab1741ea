// SPDX-License-Identifier: Apache-2.0
// FAULT: f32 factors are split into two bf16 pieces where three are needed, and the product of the small ones is left out: 2^-16
// of a term.
// Kind: precision
// Caught by: the bound, with tokens=1 hidden=1 out=1 (f32).
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, two_pieces_of_three) {

__device__ inline float piece(float v) { return to_float(from_float<bfloat16>(v)); }

template <class T>
struct Wrong : Plain<T> {
  __device__ static float added(float sum, float x, float w) {
    const float x0 = piece(x), x1 = piece(x - x0), w0 = piece(w), w1 = piece(w - w0);
    return fmaf(x0, w0, fmaf(x0, w1, fmaf(x1, w0, sum)));
  }
};
KERNEL_FROM(linear, plain, Wrong, {f32});

}  // namespace assay::ROOM(linear, two_pieces_of_three)
