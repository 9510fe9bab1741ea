// SPDX-License-Identifier: Apache-2.0
// FAULT: K is written to both pools.
// Caught by: the comparison on any fill but those that make K and V alike.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, value_of_key) {

KERNEL(kv_append){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kPlainThreads)},
    .numerics = {.accumulate = f32},
    .supports = extents_fit,
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static void store(const Problem<T>& p, std::int64_t, int, std::int64_t from, std::int64_t to) {
    st(p.k_pool + to, ld(p.k + from));
    st(p.v_pool + to, ld(p.k + from));
  }
};

void run(const kv_append::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(kv_append, value_of_key)
