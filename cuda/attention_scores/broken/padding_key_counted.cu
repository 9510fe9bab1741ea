// SPDX-License-Identifier: Apache-2.0
// FAULT: the last tile of keys is padded with zeros, and the scores of the padding, 0, are part of the sum. Right where the
// keys fill tiles.
// Caught by: probe_uniform and probe_digits, exactly; the bound on all_far_below_zero, and on any row of few keys.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, padding_key_counted) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float padding(const Problem<T>& m, std::int64_t seen, float base) {
    const std::int64_t padded = seen == m.seq_k ? ceil_div(seen, kWarp) * kWarp : seen;
    return static_cast<float>(padded - seen) * expf(0.0f - base);
  }
};
KERNEL_FROM(attention_scores, plain, Wrong);

}  // namespace assay::ROOM(attention_scores, padding_key_counted)
