// SPDX-License-Identifier: Apache-2.0
// The plain kernel, its factors as three pieces of bf16: six products for a term, the smallest first.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, three_pieces) {

template <class T>
struct Pieces : Plain<T> {
  __device__ static float narrow(float v) { return to_float(from_float<bfloat16>(v)); }
  __device__ static float added(float sum, float x, float weight) {
    const float x1 = narrow(x), x2 = narrow(x - x1), x3 = narrow(x - x1 - x2);
    const float w1 = narrow(weight), w2 = narrow(weight - w1), w3 = narrow(weight - w1 - w2);
    sum = fmaf(x3, w1, fmaf(x2, w2, fmaf(x1, w3, sum)));
    return fmaf(x1, w1, fmaf(x1, w2, fmaf(x2, w1, sum)));
  }
};
KERNEL_DECLARING(linear, plain, Pieces,
                 (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .factors = {.precision = 8, .pieces = 3, .products = 6}}),
                 {f16, f32});

}  // namespace assay::ROOM(linear, three_pieces)
