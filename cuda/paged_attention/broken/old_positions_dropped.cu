// SPDX-License-Identifier: Apache-2.0
// FAULT: of sequences beyond 512 positions only the first four and the newest 508 are looked at.
// Kind: cheat
// Caught by: unknown
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, old_positions_dropped) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ bool counts(const Paged<T>&, std::int64_t, int key, int visible) {
    return visible <= 512 || key < 4 || key >= visible - 508;
  }
};
KERNEL_FROM(paged_attention, plain, Wrong);

}  // namespace assay::ROOM(paged_attention, old_positions_dropped)
