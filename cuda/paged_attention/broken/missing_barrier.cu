// SPDX-License-Identifier: Apache-2.0
// FAULT: one warp reads what the other hands over through shared memory, with no barrier between.
// Caught by: the comparison: where the reader comes first it gets what nobody has written, on simt NaN.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, missing_barrier) {

template <class T>
struct Wrong : Plain<T> {
  static constexpr int kWarps = 2;
  static constexpr std::size_t kSharedBytes = kPlainThreads * (kPlainChannels + 2) * sizeof(float);
  template <class Take>
  static __device__ bool attend(int end, Part& part, Take&& take) {
    const int middle = (end + 1) / 2;
    take(warp_id() ? middle : 0, warp_id() ? end : middle, part);

    // The second warp hands over what it has.
    float* const handed = shared_memory<float>() + lane_id() * (kPlainChannels + 2);
    if (warp_id()) {
      st(handed, part.max);
      st(handed + 1, part.sum);
      for (int c = 0; c < kPlainChannels; ++c) st(handed + 2 + c, part.o[c]);
      return false;
    }
    const float other = ld(handed), all = fmaxf(part.max, other), base = all == -INFINITY ? 0.0f : all;
    const float mine = expf(part.max - base), theirs = expf(other - base);
    part.max = all;
    part.sum = fmaf(part.sum, mine, ld(handed + 1) * theirs);
#pragma unroll
    for (int c = 0; c < kPlainChannels; ++c) part.o[c] = fmaf(part.o[c], mine, ld(handed + 2 + c) * theirs);
    return true;
  }
};
KERNEL_FROM(paged_attention, plain, Wrong);

}  // namespace assay::ROOM(paged_attention, missing_barrier)
