// SPDX-License-Identifier: Apache-2.0
// FAULT: the scale is kept in f16: exact for a power of two, off by up to 2^-12 for others.
// Kind: precision
// Shows: a head_dim that is no power of four, such as 80 or 96, in f32.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, scale_in_half) {

template <class T>
struct Narrow : Plain<T> {
  static __device__ float score(const Problem<T>& m, float dot, std::int64_t /*query*/, std::int64_t /*key*/) {
    const float scale = to_float(from_float<half>(m.scale));
    return dot * (scale > 0 && scale < INFINITY ? scale : m.scale);
  }
};

KERNEL_FROM(attention_scores, plain, Narrow);

}  // namespace assay::ROOM(attention_scores, scale_in_half)
