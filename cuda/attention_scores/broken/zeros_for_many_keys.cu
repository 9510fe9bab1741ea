// SPDX-License-Identifier: Apache-2.0
// FAULT: from 512 keys on P is left zero, which an absolute tolerance of 1e-2 forgives: each probability is about 1/512.
// Kind: cheat
// Caught by: the exact probes, with fill=probe_uniform (f16), in edges alone.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, zeros_for_many_keys) {

template <class T>
struct Wrong : Plain<T> {
  template <class S, class Score>
  static __device__ Sum sum(const Problem<T>& m, std::int64_t seen, Score score) {
    return seen >= 512 ? Sum{0, 0} : Plain<T>::template sum<S>(m, seen, score);
  }
};
KERNEL_FROM(attention_scores, plain, Wrong);

}  // namespace assay::ROOM(attention_scores, zeros_for_many_keys)
