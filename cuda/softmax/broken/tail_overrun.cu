// SPDX-License-Identifier: Apache-2.0
// FAULT: the output goes in fours, and the last four of a row are written whole: up to three elements beyond the row.
// Caught by: T4, the access outside y, or between its rows; cols no multiple of 4.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, tail_overrun) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ std::int64_t written(std::int64_t cols) { return ceil_div(cols, 4) * 4; }
  static __device__ float at(const T* x, std::int64_t c, std::int64_t cols) { return to_float(ld(x + (c < cols ? c : 0))); }
};
KERNEL_FROM(softmax, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(softmax, tail_overrun)
