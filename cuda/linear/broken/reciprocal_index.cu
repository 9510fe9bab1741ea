// SPDX-License-Identifier: Apache-2.0
// FAULT: the token is i / out by a multiplication with 65536 / out, cut off to an integer: the first feature of a token is taken
// for one more feature of the token before. Right where out is a power of two.
// Caught by: T4, the access outside the weight, or T1; out no power of two and several tokens.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, reciprocal_index) {

template <class T>
struct Wrong : Plain<T> {
  static dim3 grid(const Operands<T>& p, int threads) { return dim3(ceil_div(p.tokens * p.out, threads)); }
  __device__ static std::int64_t index() { return static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x; }
  __device__ static bool there(const Operands<T>& p, const Place&) { return index() < p.tokens * p.out; }
  __device__ static Place place(const Operands<T>& p) {
    const std::int64_t token = index() * (65536 / p.out) >> 16;
    return {token, index() - token * p.out};
  }
};
KERNEL_FROM(linear, plain, Wrong);

}  // namespace assay::ROOM(linear, reciprocal_index)
