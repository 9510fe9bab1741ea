// SPDX-License-Identifier: Apache-2.0
// FAULT: the sums take the row in packs of four and leave out the cols % 4 elements that remain, which are normalised all
// the same.
// Caught by: the bound, on any random fill with cols % 4 != 0, the plainer the fewer the columns.
#include "cuda/layernorm/broken/plain.cuh"

namespace assay::ROOM(layernorm, tail_not_summed) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ std::int64_t summed(std::int64_t cols) { return cols / 4 * 4; }
};
KERNEL_FROM(layernorm, plain, Wrong);

}  // namespace assay::ROOM(layernorm, tail_not_summed)
