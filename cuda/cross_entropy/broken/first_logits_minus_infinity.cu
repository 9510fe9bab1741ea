// SPDX-License-Identifier: Apache-2.0
// FAULT: the maximum is taken off as it stands: where a thread's first logits are -inf that is -inf + inf, as in a masked
// vocabulary.
// Kind: range
// Caught by: the bound, with fill=neg_inf_in_row (f16).
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, first_logits_minus_infinity) {

struct Bare {
  float max = -INFINITY, sum = 0;
  template <int N>
  __device__ void add(const float (&v)[N]) {
    for (int j = 0; j < N; ++j) {
      const float all = fold::larger(max, v[j]);
      sum = sum * expf(max - all) + expf(v[j] - all);
      max = all;
    }
  }
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static fold::LogSumExp seen(const T* x, std::int64_t vocab) {
    Bare bare;
    fold::take_packs<1, 1>(bare, x, threadIdx.x, vocab, kPlainThreads);
    return fold::join_block(fold::LogSumExp{bare.max, bare.sum}, shared_memory<fold::LogSumExp>());
  }
};
KERNEL_FROM(cross_entropy, plain, Wrong);

}  // namespace assay::ROOM(cross_entropy, first_logits_minus_infinity)
