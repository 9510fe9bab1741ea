// SPDX-License-Identifier: Apache-2.0
// FAULT: gate is rounded to the storage dtype before silu and the declaration does not say so.
// Caught by: the bound, where silu amplifies: gate far below 0.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, rounded_gate) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float value(const Operands<T>&, float gate, float up, std::int64_t) {
    return silu(to_float(from_float<T>(gate))) * up;
  }
};
KERNEL_FROM(gemm_swiglu, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(gemm_swiglu, rounded_gate)
