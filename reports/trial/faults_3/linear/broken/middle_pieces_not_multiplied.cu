// SPDX-License-Identifier: Apache-2.0
// FAULT: f32 factors are split into three pieces of 8 bits, and the product of the two middle pieces is left out.
// Kind: precision
// Shows: f32 from the 16th bit of each product on, and f16 whose middle pieces have 3 bits; bf16 is right.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, middle_pieces_not_multiplied) {

template <class T>
struct Split : Plain<T> {
  __device__ static float added(float sum, float x, float w) {
    const auto piece = [](float v) { return to_float(from_float<bfloat16>(v)); };
    const float x1 = piece(x), x2 = piece(x - x1), x3 = x - x1 - x2, w1 = piece(w), w2 = piece(w - w1), w3 = w - w1 - w2;
    if (!(fabsf(x1) < INFINITY && fabsf(w1) < INFINITY)) return fmaf(x, w, sum);
    return fmaf(x1, w1, fmaf(x1, w2, fmaf(x2, w1, fmaf(x1, w3, fmaf(x3, w1, sum)))));
  }
};
KERNEL_FROM(linear, plain, Split);

}  // namespace assay::ROOM(linear, middle_pieces_not_multiplied)
