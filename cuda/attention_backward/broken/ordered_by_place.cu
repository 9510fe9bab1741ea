// SPDX-License-Identifier: Apache-2.0
// FAULT: a block takes the work of its place in the grid, not of its place among those that have begun, and waits for blocks that may
// not have begun.
// Caught by: deadlock, a second block of keys, where blocks begin in another order.
#include "cuda/attention_backward/broken/fused.cuh"

namespace assay::ROOM(attention_backward, ordered_by_place) {

struct Wrong : OrderedSteps {
  __device__ static unsigned place(unsigned* /*begun*/) { return blockIdx.x; }
};
KERNEL_FROM(attention_backward, ordered, Wrong);

}  // namespace assay::ROOM(attention_backward, ordered_by_place)
