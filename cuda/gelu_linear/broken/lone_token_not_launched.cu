// SPDX-License-Identifier: Apache-2.0
// FAULT: token tiles are counted as (tokens + 62) / 64: a last tile of one token is not launched.
// Caught by: T1, and T4 by the two garbage patterns in y; tokens 1, 65, 129.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, lone_token_not_launched) {

template <class T>
struct Wrong : Plain<T> {
  static dim3 grid(const Operands<T>& p) { return dim3((p.tokens + 62) / kPlainThreads * p.out); }
  __device__ static Place place(const Operands<T>& p) {
    return {blockIdx.x / p.out * kPlainThreads + threadIdx.x, blockIdx.x % p.out};
  }
};
KERNEL_FROM(gelu_linear, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(gelu_linear, lone_token_not_launched)
