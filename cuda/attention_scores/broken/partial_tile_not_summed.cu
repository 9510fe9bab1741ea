// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum takes whole tiles of 32 keys only; the keys that remain get their P, but have no part in the sum. Right
// where the keys fill tiles.
// Caught by: the bound, wherever the visible keys are not a multiple of 32.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, partial_tile_not_summed) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ std::int64_t in_sum(const Problem<T>&, std::int64_t seen) { return seen / kWarp * kWarp; }
};
KERNEL_FROM(attention_scores, plain, Wrong);

}  // namespace assay::ROOM(attention_scores, partial_tile_not_summed)
