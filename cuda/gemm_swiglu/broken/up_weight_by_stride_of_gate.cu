// SPDX-License-Identifier: Apache-2.0
// FAULT: the rows of w_up are found by the stride of w_gate. Right where both weights lie alike.
// Kind: layout
// Caught by: the bound, with fill=unit, layout=mixed (f16).
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, up_weight_by_stride_of_gate) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static const T* up_row(const Operands<T>& p, std::int64_t f) { return p.w_up + f * p.gate_stride; }
};
KERNEL_FROM(gemm_swiglu, plain, Wrong);

}  // namespace assay::ROOM(gemm_swiglu, up_weight_by_stride_of_gate)
