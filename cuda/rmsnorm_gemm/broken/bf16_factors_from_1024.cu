// SPDX-License-Identifier: Apache-2.0
// FAULT: from 1024 channels on, where time is taken, the factors of f32 are rounded to bf16 for the tensor cores.
// Kind: cheat
// Caught by: unknown
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, bf16_factors_from_1024) {

  template <class T>
  struct Wrong : Plain<T> {
    __device__ static float squares_or_factor(float v) { return v; }
    __device__ static float gamma(const Operands<T>& p, std::int64_t h) {
      const float gamma = p.gamma_at(h);
      return p.hidden < 1024 ? gamma : to_float(from_float<bfloat16>(gamma));
    }
    __device__ static float result(const Operands<T>& p, float sum, float, const Place&) {
      return p.hidden < 1024 ? sum : to_float(from_float<bfloat16>(sum));
    }
  };
  KERNEL_FROM(rmsnorm_gemm, plain, Wrong, {f32});

}  // namespace assay::ROOM(rmsnorm_gemm,bf16_factors_from_1024)
