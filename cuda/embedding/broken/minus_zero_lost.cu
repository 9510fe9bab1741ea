// SPDX-License-Identifier: Apache-2.0
// FAULT: an element passes through an addition of zero, left from a positional embedding: -0 becomes 0.
// Caught by: T1, on signed_zeros: a copy keeps the sign of a zero.
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, minus_zero_lost) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static T element(const Rows<T>& m, std::int64_t id, std::int64_t h) {
    return from_float<T>(to_float(Plain<T>::element(m, id, h)) + 0.0f);
  }
};
KERNEL_FROM(embedding, plain, Wrong);

}  // namespace assay::ROOM(embedding, minus_zero_lost)
