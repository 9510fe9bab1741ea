// SPDX-License-Identifier: Apache-2.0
// FAULT: the result is packed by the instruction for f16 before it is stored as bf16: inf from 65520 on, zero below 3e-8.
// Kind: range
// Caught by: the bound, with fill=unit (bf16).
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, result_through_half) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float value(const Operands<T>&, float gate, float up, std::int64_t) {
    return to_float(from_float<half>(silu(gate) * up));
  }
};
KERNEL_FROM(gemm_swiglu, plain, Wrong, {bf16});

}  // namespace assay::ROOM(gemm_swiglu, result_through_half)
