// SPDX-License-Identifier: Apache-2.0
// The plain kernel, its products and sums rounded to bf16, that with the bias too, as declared.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, bfloat_sums) {

template <class T>
struct Narrow : Plain<T> {
  __device__ static float rounded(float v) { return to_float(from_float<bfloat16>(v)); }
  __device__ static float added(float sum, float x, float w) { return rounded(sum + rounded(x * w)); }
  __device__ static float add_bias(const Operands<T>& p, float sum, std::int64_t o) {
    return p.bias != nullptr ? rounded(sum + p.bias_at(o)) : sum;
  }
};
KERNEL_DECLARING(gelu_linear, plain, Narrow, (Numerics{.accumulate = bf16, .chain = {.lanes = 1}}), {f16, bf16});

}  // namespace assay::ROOM(gelu_linear, bfloat_sums)
