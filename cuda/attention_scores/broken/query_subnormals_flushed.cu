// SPDX-License-Identifier: Apache-2.0
// FAULT: f16 comes to f32 by shifting exponent and fraction, which is right for normal numbers; subnormals of q become zero.
// Caught by: T1, on subnormal_queries.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, query_subnormals_flushed) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float query_value(const Problem<T>&, T q) {
    const float v = to_float(q);
    return fabsf(v) < 0x1p-14f ? 0.0f : v;
  }
};
KERNEL_FROM(attention_scores, plain, Wrong, {f16});

}  // namespace assay::ROOM(attention_scores, query_subnormals_flushed)
