// SPDX-License-Identifier: Apache-2.0
// FAULT: the last step is expected to bring the bytes of the channels that exist; a box always brings all of its own.
// Caught by: T4 on simt (in_flight or deadlock), channels no multiple of 64.
#include "cuda/linear/broken/ring.cuh"

namespace assay::ROOM(linear, ring_expects_tail) {

struct Wrong : PlainRing {
  __device__ static int expected(int bytes, int channels) { return channels < 64 ? bytes / 64 * channels : bytes; }
};
KERNEL_FROM(linear, ring, Wrong);

}  // namespace assay::ROOM(linear, ring_expects_tail)
