// SPDX-License-Identifier: Apache-2.0
// FAULT: takes the leave of Launch::after to begin early, and waits for nothing: the launch before may still use the pools.
// Caught by: T4 on simt, early_write, in the cases whose second run is in random order.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, appended_early) {

template <class T>
struct Wrong : Plain<T> {
  static bool begins_early(const Launch& l) { return l.after; }
};
KERNEL_FROM(kv_append, plain, Wrong);

}  // namespace assay::ROOM(kv_append, appended_early)
