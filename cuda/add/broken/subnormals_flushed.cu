// SPDX-License-Identifier: Apache-2.0
// FAULT: sums below the normal range of the dtype become zero, as with a fast-math flag. Right for all others.
// Caught by: the bound on fill subnormals.
#include "cuda/add/broken/plain.cuh"

namespace assay::ROOM(add, subnormals_flushed) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static void element(const Matrices<T>& m, std::int64_t row, std::int64_t col) {
    const float sum = m.a_at(row, col) + m.b_at(row, col);
    constexpr float kLeastNormal = std::is_same_v<T, half> ? 6.103515625e-05f : 1.1754943508222875e-38f;
    m.store(row, col, fabsf(sum) < kLeastNormal ? 0.0f : sum);
  }
};
KERNEL_FROM(add, plain, Wrong);

}  // namespace assay::ROOM(add, subnormals_flushed)
