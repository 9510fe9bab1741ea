// SPDX-License-Identifier: Apache-2.0
// FAULT: cosine and sine are rounded to the storage dtype, as a table in the dtype of the model is.
// Caught by: the bound: an error of half an ulp of the dtype in either factor.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, table_in_storage) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static Rotation rotation(const Problem<T>& p, int i, std::int64_t position) {
    const Rotation exact = Plain<T>::rotation(p, i, position);
    return {to_float(from_float<T>(exact.cosine)), to_float(from_float<T>(exact.sine))};
  }
};
KERNEL_FROM(rope, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(rope, table_in_storage)
