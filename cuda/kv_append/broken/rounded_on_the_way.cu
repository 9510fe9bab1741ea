// SPDX-License-Identifier: Apache-2.0
// FAULT: the rows pass through bfloat16. Right for bf16.
// Caught by: the comparison in f16 and f32, which allows a copy no error at all.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, rounded_on_the_way) {

KERNEL(kv_append){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kPlainThreads)},
    .numerics = {.accumulate = f32},
    .supports = extents_fit,
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static void store(const Problem<T>& p, std::int64_t, int, std::int64_t from, std::int64_t to) {
    st(p.k_pool + to, from_float<T>(to_float(from_float<bfloat16>(to_float(ld(p.k + from))))));
    st(p.v_pool + to, ld(p.v + from));
  }
};

void run(const kv_append::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(kv_append, rounded_on_the_way)
