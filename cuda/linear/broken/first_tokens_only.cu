// SPDX-License-Identifier: Apache-2.0
// FAULT: tokens beyond 128 are left to a second launch that nobody makes.
// Caught by: whatever looks at all tokens: their outputs keep what the buffer held.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, first_tokens_only) {

template <class T>
struct Wrong : Plain<T> {
  static void change(Operands<T>& p) { p.tokens = std::min<std::int64_t>(p.tokens, 128); }
};
KERNEL_FROM(linear, plain, Wrong);

}  // namespace assay::ROOM(linear, first_tokens_only)
