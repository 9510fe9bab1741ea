// SPDX-License-Identifier: Apache-2.0
// FAULT: cosines and sines come from a table of 8192 positions, whose last row stands for all beyond.
// Kind: range
// Caught by: the bound, with fill=far_positions (f16).
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, table_of_8192) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static Rotation rotation(const Problem<T>& p, int i, std::int64_t position) {
    return Plain<T>::rotation(p, i, position < 8191 ? position : 8191);
  }
};
KERNEL_FROM(rope, plain, Wrong);

}  // namespace assay::ROOM(rope, table_of_8192)
