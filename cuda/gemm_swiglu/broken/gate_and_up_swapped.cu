// SPDX-License-Identifier: Apache-2.0
// FAULT: in the last group of features, where it has fewer than 8, silu is taken of up instead of gate.
// Caught by: the bound, where ffn is no multiple of 8; exactly by probe_gates.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, gate_and_up_swapped) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float value(const Operands<T>& p, float gate, float up, std::int64_t f) {
    const bool swapped = f >= p.ffn / 8 * 8;
    return swapped ? silu(up) * gate : silu(gate) * up;
  }
};
KERNEL_FROM(gemm_swiglu, plain, Wrong);

}  // namespace assay::ROOM(gemm_swiglu, gate_and_up_swapped)
