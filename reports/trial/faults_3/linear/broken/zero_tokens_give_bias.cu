// SPDX-License-Identifier: Apache-2.0
// FAULT: a token whose channels are all zero gets the bias without a product.
// Kind: cheats
// Shows: zero tokens with NaN or infinities in a weight.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, zero_tokens_give_bias) {

template <class T>
struct Skipped : Plain<T> {
  template <class F>
  __device__ static float product(const Operands<T>& p, std::int64_t token, std::int64_t o) {
    bool zero = true;
    for (std::int64_t h = 0; h < p.hidden && zero; ++h) zero = p.x_at(token, h) == 0;
    return zero ? 0.0f : Plain<T>::template product<F>(p, token, o);
  }
};
KERNEL_FROM(linear, plain, Skipped);

}  // namespace assay::ROOM(linear, zero_tokens_give_bias)
