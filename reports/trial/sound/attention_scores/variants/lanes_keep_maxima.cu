// SPDX-License-Identifier: Apache-2.0
// A query a warp, whose lanes keep a maximum and a sum as they go; a sum is rescaled whenever its lane's maximum grows, and
// once more
// before the lanes are joined.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, lanes_keep_maxima) {

template <class T>
struct Online : Plain<T> {
  template <class S, class Score>
  static __device__ Sum sum(const Problem<T>&, std::int64_t seen, Score score) {
    float max = -INFINITY, sum = 0;
    for (std::int64_t key = lane_id(); key < seen; key += kWarp) {
      const float v = score(key);
      if (v > max) {
        sum = sum * expf(max - v) + expf(v - v);  // of +inf a NaN, as in the formula
        max = v;
      } else if (!(v == -INFINITY)) {
        sum += expf(v - max);
      }
    }
    const float all = warp_max(max), base = S::base(all);
    return {base, warp_sum(max == all ? sum : sum * expf(max - base))};
  }
};
KERNEL_DECLARING(attention_scores, plain, Online,
                 (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .rescales = {.lanes = kWarp, .extra = 1}}));

}  // namespace assay::ROOM(attention_scores, lanes_keep_maxima)
