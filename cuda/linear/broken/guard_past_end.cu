// SPDX-License-Identifier: Apache-2.0
// FAULT: `o > out` for `o >= out`: where features do not fill the last block, a thread works on the feature after the last.
// Caught by: T4, the access outside the weight and y; out no multiple of 8.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, guard_past_end) {

template <class T>
struct Wrong : Plain<T> {
  static constexpr int kThreads = 8;
  __device__ static bool there(const Operands<T>& p, const Place& at) { return at.o <= p.out; }
};
KERNEL_FROM(linear, plain, Wrong);

}  // namespace assay::ROOM(linear, guard_past_end)
