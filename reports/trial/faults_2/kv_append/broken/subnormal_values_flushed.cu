// SPDX-License-Identifier: Apache-2.0
// FAULT: values pass through an addition to zero that flushes subnormal numbers.
// Kind: ranges
// Shows: f32 or bf16 values below 2^-126.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, subnormal_values_flushed) {

template <class T>
struct Steps : Plain<T> {
  __device__ static T passed(T v) {
    const float f = to_float(v);
    return fabsf(f) < 0x1p-126f && f != 0.0f ? from_float<T>(copysignf(0.0f, f)) : v;
  }
  __device__ static void store(const Problem<T>& p, std::int64_t, int, std::int64_t from, std::int64_t to) {
    st(p.k_pool + to, passed(ld(p.k + from)));
    st(p.v_pool + to, passed(ld(p.v + from)));
  }
};
KERNEL_FROM(kv_append, plain, Steps);

}  // namespace assay::ROOM(kv_append, subnormal_values_flushed)
