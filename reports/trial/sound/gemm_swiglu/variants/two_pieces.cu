// SPDX-License-Identifier: Apache-2.0
// The plain kernel, its factors as two pieces of bf16, all four products of a term, the smallest first.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, two_pieces) {

template <class T>
struct Pieces : Plain<T> {
  __device__ static float narrow(float v) { return to_float(from_float<bfloat16>(v)); }
  __device__ static float added(float sum, float x, float w) {
    const float x1 = narrow(x), x2 = narrow(x - x1), w1 = narrow(w), w2 = narrow(w - w1);
    return fmaf(x1, w1, fmaf(x1, w2, fmaf(x2, w1, fmaf(x2, w2, sum))));
  }
};
KERNEL_DECLARING(gemm_swiglu, plain, Pieces,
                 (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .factors = {.precision = 8, .pieces = 2, .products = 4}}),
                 {f16, f32});

}  // namespace assay::ROOM(gemm_swiglu, two_pieces)
