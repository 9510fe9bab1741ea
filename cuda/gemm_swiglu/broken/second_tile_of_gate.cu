// SPDX-License-Identifier: Apache-2.0
// FAULT: from the second tile of features on, up is multiplied with rows of w_gate.
// Caught by: T1, with more than 64 features.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, second_tile_of_gate) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static const T* up_row(const Operands<T>& p, std::int64_t f) {
    return f < kPlainThreads ? Plain<T>::up_row(p, f) : p.w_gate + f * p.gate_stride;
  }
};
KERNEL_FROM(gemm_swiglu, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(gemm_swiglu, second_tile_of_gate)
