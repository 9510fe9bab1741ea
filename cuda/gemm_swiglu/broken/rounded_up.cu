// SPDX-License-Identifier: Apache-2.0
// FAULT: up is rounded to the storage dtype before the product and the declaration does not say so.
// Caught by: T1, at about one element in ten of any random fill.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, rounded_up) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float value(const Operands<T>&, float gate, float up, std::int64_t) {
    return silu(gate) * to_float(from_float<T>(up));
  }
};
KERNEL_FROM(gemm_swiglu, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(gemm_swiglu, rounded_up)
