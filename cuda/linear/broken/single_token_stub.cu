// SPDX-License-Identifier: Apache-2.0
// FAULT: for one token, whose kernel is still to be written, the output is constant: the bias, or zero.
// Caught by: T1, with one token.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, single_token_stub) {

template <class T>
struct Wrong : Plain<T> {
  template <class F>
  __device__ static float product(const Operands<T>& p, std::int64_t token, std::int64_t o) {
    return p.tokens == 1 ? 0.0f : Plain<T>::template product<F>(p, token, o);
  }
};
KERNEL_FROM(linear, plain, Wrong);

}  // namespace assay::ROOM(linear, single_token_stub)
