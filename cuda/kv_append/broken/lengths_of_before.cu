// SPDX-License-Identifier: Apache-2.0
// FAULT: takes lengths for those of before the new rows.
// Caught by: the comparison: the new rows are missing where they belong, and one past the end of a begun page is there.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, lengths_of_before) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static std::int64_t place(const Problem<T>& p, std::int64_t b, int row) {
    const int length = ld(p.lengths + b), position = length + row;
    // Note: a page that is not begun may not be there.
    return position / p.page_size * p.page_size >= length ? -1 : Plain<T>::slot(p, b, position);
  }
};
KERNEL_FROM(kv_append, plain, Wrong);

}  // namespace assay::ROOM(kv_append, lengths_of_before)
