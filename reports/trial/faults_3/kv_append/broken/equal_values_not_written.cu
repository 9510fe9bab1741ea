// SPDX-License-Identifier: Apache-2.0
// FAULT: an element that compares equal to what the pool holds is not written.
// Kind: cheats
// Shows: slots that hold a zero of the other sign.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, equal_values_not_written) {

template <class T>
struct OnlyChanged : Plain<T> {
  __device__ static void store_one(T* to, T v) {
    if (to_float(ld(to)) != to_float(v)) st(to, v);
  }
  __device__ static void store(const Problem<T>& p, std::int64_t, int, std::int64_t from, std::int64_t to) {
    store_one(p.k_pool + to, ld(p.k + from));
    store_one(p.v_pool + to, ld(p.v + from));
  }
};
KERNEL_FROM(kv_append, plain, OnlyChanged);

}  // namespace assay::ROOM(kv_append, equal_values_not_written)
