// SPDX-License-Identifier: Apache-2.0
// FAULT: the rows pass through bfloat16. Right for bf16.
// Caught by: the comparison in f16 and f32, which allows a copy no error at all.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, rounded_on_the_way) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static void store(const Problem<T>& p, std::int64_t, int, std::int64_t from, std::int64_t to) {
    st(p.k_pool + to, from_float<T>(to_float(from_float<bfloat16>(to_float(ld(p.k + from))))));
    st(p.v_pool + to, ld(p.v + from));
  }
};
KERNEL_FROM(kv_append, plain, Wrong);

}  // namespace assay::ROOM(kv_append, rounded_on_the_way)
