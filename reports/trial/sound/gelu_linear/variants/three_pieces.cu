// SPDX-License-Identifier: Apache-2.0
// The plain kernel, its factors as three pieces of bf16: six products for a term, the largest first.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, three_pieces) {

template <class T>
struct Pieces : Plain<T> {
  __device__ static float narrow(float v) { return to_float(from_float<bfloat16>(v)); }
  __device__ static float added(float sum, float x, float w) {
    const float x1 = narrow(x), x2 = narrow(x - x1), x3 = narrow(x - x1 - x2);
    const float w1 = narrow(w), w2 = narrow(w - w1), w3 = narrow(w - w1 - w2);
    sum = fmaf(x1, w2, fmaf(x2, w1, fmaf(x1, w1, sum)));
    return fmaf(x1, w3, fmaf(x3, w1, fmaf(x2, w2, sum)));
  }
};
KERNEL_DECLARING(gelu_linear, plain, Pieces,
                 (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .factors = {.precision = 8, .pieces = 3, .products = 6}}),
                 {f16, f32});

}  // namespace assay::ROOM(gelu_linear, three_pieces)
