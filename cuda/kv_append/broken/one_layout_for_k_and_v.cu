// SPDX-License-Identifier: Apache-2.0
// FAULT: v and its pool are taken to have the strides of k and of its pool, and the declaration does not refuse others.
// Kind: layout
// Caught by: out_of_bounds, with layout=mixed (f16).
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, one_layout_for_k_and_v) {

kv_append::Args alike(const kv_append::Args& a) {
  kv_append::Args b = a;
  b.v.stride = a.k.stride;
  b.v_pool.stride = a.k_pool.stride;
  return b;
}
Legality supports(const kv_append::Args& a) { return extents_fit(alike(a)); }

constexpr KernelTraits<kv_append> declared() {
  KernelTraits<kv_append> traits = plain_traits<Plain>();
  traits.supports = supports;
  return traits;
}
KERNEL(kv_append) = declared();

void run(const kv_append::Args& a, const Launch& l) { run_plain<Plain>(alike(a), l); }

}  // namespace assay::ROOM(kv_append, one_layout_for_k_and_v)
