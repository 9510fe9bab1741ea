// SPDX-License-Identifier: Apache-2.0
// FAULT: the keys of the first batch serve all batches. Right for one batch.
// Caught by: probe_digits, exactly, and the bound, for more than one batch.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, first_batch_keys) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ const T* channels(const Problem<T>& m, const Query& at, std::int64_t key) {
    return m.k.at(0, key, at.head / m.group);
  }
};
KERNEL_FROM(attention_scores, plain, Wrong);

}  // namespace assay::ROOM(attention_scores, first_batch_keys)
