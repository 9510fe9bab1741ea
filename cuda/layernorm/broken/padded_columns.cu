// SPDX-License-Identifier: Apache-2.0
// FAULT: both means are divided by the columns rounded up to whole packs of eight, as if the row were padded with zeros that
// count.
// Caught by: the bound, on any random fill with cols % 8 != 0, the plainer the fewer the columns.
#include "cuda/layernorm/broken/plain.cuh"

namespace assay::ROOM(layernorm, padded_columns) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float divisor(std::int64_t cols) { return static_cast<float>(ceil_div(cols, 8) * 8); }
};
KERNEL_FROM(layernorm, plain, Wrong);

}  // namespace assay::ROOM(layernorm, padded_columns)
