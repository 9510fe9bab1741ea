// SPDX-License-Identifier: Apache-2.0
// A row a block, each thread's sum with Kahan's compensation: two roundings, whatever the number of its terms, so more lanes than
// a row can have columns and one addition, then the ten of the block.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, compensated_sum) {

template <class T>
struct Compensated : Plain<T> {
  template <class S>
  static __device__ Sum sum(const T* x, std::int64_t cols, std::int64_t row, std::int64_t lane) {
    float max = -INFINITY, sum = 0, lost = 0;
    for (std::int64_t c = lane; c < cols; c += S::kLanes) max = fmaxf(max, to_float(ld(x + c)));
    max = S::group_max(max);
    for (std::int64_t c = lane; c < cols; c += S::kLanes) {
      const float term = S::template term<S>(to_float(ld(x + c)), max, row) - lost, larger = sum + term;
      lost = (larger - sum) - term;
      sum = larger;
    }
    return {max, S::group_sum(sum)};
  }
};
KERNEL_DECLARING(softmax, plain, Compensated,
                 (Numerics{.accumulate = f32, .chain = {.lanes = std::int64_t{1} << 40, .extra = 1 + 10}}));

}  // namespace assay::ROOM(softmax, compensated_sum)
