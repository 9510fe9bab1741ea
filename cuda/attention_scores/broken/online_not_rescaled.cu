// SPDX-License-Identifier: Apache-2.0
// FAULT: maximum and sum in one pass, but the sum of what a lane saw is not rescaled when its maximum rises. Right where a
// lane sees one key.
// Caught by: the bound on rising, and on any random case of more than 32 keys.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, online_not_rescaled) {

template <class T>
struct Wrong : Plain<T> {
  static constexpr Chain kRescales = {.lanes = kWarp, .extra = 1};
  template <class S, class Score>
  static __device__ Sum sum(const Problem<T>&, std::int64_t seen, Score score) {
    float max = -INFINITY, sum = 0;
    for (std::int64_t key = lane_id(); key < seen; key += kWarp) {
      const float s = score(key);
      if (s == -INFINITY) continue;  // adds nothing, and minus itself would be NaN
      max = fmaxf(max, s);
      sum += expf(s - max);
    }
    const float all = warp_max(max);
    return {all, warp_sum(max == -INFINITY ? sum : sum * expf(max - all))};
  }
};
KERNEL_FROM(attention_scores, plain, Wrong);

}  // namespace assay::ROOM(attention_scores, online_not_rescaled)
