// SPDX-License-Identifier: Apache-2.0
// FAULT: a token whose first eight channels are zero is taken for padding: its product is not computed.
// Kind: cheat
// Caught by: the exact probes, with fill=probe_one_hot (f16).
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, zero_token_guessed) {

template <class T>
struct Wrong : Plain<T> {
  template <class F>
  __device__ static float product(const Operands<T>& p, std::int64_t token, std::int64_t o) {
    bool zero = p.hidden > 8;
    for (int h = 0; h < 8 && zero; ++h) zero = p.x_at(token, h) == 0.0f;
    return zero ? 0.0f : Plain<T>::template product<F>(p, token, o);
  }
};
KERNEL_FROM(linear, plain, Wrong);

}  // namespace assay::ROOM(linear, zero_token_guessed)
