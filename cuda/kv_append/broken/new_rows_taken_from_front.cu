// SPDX-License-Identifier: Apache-2.0
// FAULT: a sequence with fewer new rows than seq_q has them taken from the front instead of the end.
// Kind: combination
// Caught by: the exact probes, with fill=lengths_boundary (f32).
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, new_rows_taken_from_front) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static std::int64_t place(const Problem<T>& p, std::int64_t b, int row) {
    const int length = ld(p.lengths + b), first = length < p.rows ? 0 : length - p.rows;
    return first + row < length ? Plain<T>::slot(p, b, first + row) : -1;
  }
};
KERNEL_FROM(kv_append, plain, Wrong);

}  // namespace assay::ROOM(kv_append, new_rows_taken_from_front)
