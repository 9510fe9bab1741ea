// SPDX-License-Identifier: Apache-2.0
// FAULT: tokens beyond the last multiple of 8 add their channels from the last to the first, so a token's bits depend on how
// many there are.
// Caught by: the relations alone (tokens_permuted, first_tokens), in f32 on any random fill: both orders are within the bound.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, last_tokens_backwards) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static std::int64_t channel(const Operands<T>& p, std::int64_t token, std::int64_t i) {
    return token >= p.tokens / 8 * 8 ? p.hidden - 1 - i : i;
  }
};
KERNEL_FROM(linear, plain, Wrong);

}  // namespace assay::ROOM(linear, last_tokens_backwards)
