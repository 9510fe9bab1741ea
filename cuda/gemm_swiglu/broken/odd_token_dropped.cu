// SPDX-License-Identifier: Apache-2.0
// FAULT: tokens are taken in pairs, and nothing takes the last of an odd number: y keeps what it held.
// Caught by: T1, and T4 by the two garbage patterns in y; an odd number of tokens.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, odd_token_dropped) {

template <class T>
struct Wrong : Plain<T> {
  static dim3 grid(const Operands<T>& p) { return dim3(p.tokens / 2 * 2, ceil_div(p.ffn, kPlainThreads)); }
};
KERNEL_FROM(gemm_swiglu, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(gemm_swiglu, odd_token_dropped)
