// SPDX-License-Identifier: Apache-2.0
// FAULT: in the interleaved layout the table of frequencies is read by the first channel of a pair, 2i, in place of its index i.
// Kind: combination
// Caught by: the comparison with layout_of_pairs=interleaved frequencies=given.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, table_by_channel) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static Rotation rotation(const Problem<T>& p, int i, std::int64_t position) {
    return Plain<T>::rotation(p, p.frequencies != nullptr ? p.first(i) : i, position);
  }
};
KERNEL_FROM(rope, plain, Wrong);

}  // namespace assay::ROOM(rope, table_by_channel)
