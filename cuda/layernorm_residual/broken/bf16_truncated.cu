// SPDX-License-Identifier: Apache-2.0
// FAULT: bf16 is stored by dropping the low half of the float, not by rounding; the other dtypes are right.
// Kind: combination
// Caught by: the bound, with rows=1 cols=2 (bf16).
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, bf16_truncated) {

template <class T>
struct Wrong : Plain<T> {
  template <class F>
  __device__ static void write(const Rows<T>& m, float mean, float r) {
    for (std::int64_t c = threadIdx.x; c < m.cols; c += F::kThreads) {
      float v = F::layernorm(m, c, mean, r) + to_float(ld(m.residual + c));
      if constexpr (std::is_same_v<T, bfloat16>) v = __builtin_bit_cast(float, __builtin_bit_cast(unsigned, v) & 0xffff0000u);
      st(m.y + c, from_float<T>(v));
    }
  }
};
KERNEL_FROM(layernorm_residual, plain, Wrong);

}  // namespace assay::ROOM(layernorm_residual, bf16_truncated)
