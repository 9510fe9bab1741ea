// SPDX-License-Identifier: Apache-2.0
// FAULT: scores are kept between -30 and 30, against an overflow that the maximum prevents.
// Kind: range
// Caught by: the exact probes, with fill=probe_one_key (f16).
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, scores_clamped_at_thirty) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float score(const Paged<T>& p, float dot, int, int) {
    const float s = dot * p.scale;
    return s > 30.0f ? 30.0f : s < -30.0f ? -30.0f : s;
  }
};
KERNEL_FROM(paged_attention, plain, Wrong);

}  // namespace assay::ROOM(paged_attention, scores_clamped_at_thirty)
