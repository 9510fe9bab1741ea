// SPDX-License-Identifier: Apache-2.0
// FAULT: sums below 2^-126 become zero, as with code that is compiled to flush subnormals.
// Kind: ranges
// Shows: f32 and bf16 elements whose sum is subnormal.
#include "cuda/add/broken/plain.cuh"

namespace assay::ROOM(add, subnormal_sums_flushed) {

template <class T>
struct Flushed : Plain<T> {
  __device__ static void element(const Matrices<T>& m, std::int64_t row, std::int64_t col) {
    const float sum = m.a_at(row, col) + m.b_at(row, col);
    m.store(row, col, fabsf(sum) < 0x1p-126f ? copysignf(0.0f, sum) : sum);
  }
};
KERNEL_FROM(add, plain, Flushed);

}  // namespace assay::ROOM(add, subnormal_sums_flushed)
