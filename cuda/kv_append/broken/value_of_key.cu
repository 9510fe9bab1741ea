// SPDX-License-Identifier: Apache-2.0
// FAULT: K is written to both pools.
// Caught by: the comparison on any fill but those that make K and V alike.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, value_of_key) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static void store(const Problem<T>& p, std::int64_t, int, std::int64_t from, std::int64_t to) {
    st(p.k_pool + to, ld(p.k + from));
    st(p.v_pool + to, ld(p.k + from));
  }
};
KERNEL_FROM(kv_append, plain, Wrong);

}  // namespace assay::ROOM(kv_append, value_of_key)
