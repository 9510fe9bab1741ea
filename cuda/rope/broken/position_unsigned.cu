// SPDX-License-Identifier: Apache-2.0
// FAULT: the position is kept in an unsigned number of 32 bits: one before zero is one of four thousand million.
// Kind: range
// Caught by: unknown
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, position_unsigned) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static Turn turn(const Problem<T>& p, int i, std::int64_t position) {
    return Plain<T>::turn(p, i, static_cast<std::uint32_t>(position));
  }
};
KERNEL_FROM(rope, plain, Wrong);

}  // namespace assay::ROOM(rope, position_unsigned)
