// SPDX-License-Identifier: Apache-2.0
// FAULT: row times stride is an unsigned product of 32 bits: right while the matrices have fewer than 2^32 elements.
// Caught by: T1 and T4, on the layout far.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, row_offset_of_32_bits) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static void advance(Rows<T>& m, std::int64_t row) {
    const auto r = static_cast<unsigned>(row);
    m.x += r * static_cast<unsigned>(m.x_stride);
    m.residual += r * static_cast<unsigned>(m.residual_stride);
    m.y += r * static_cast<unsigned>(m.y_stride);
  }
};
KERNEL_FROM(layernorm_residual, plain, Wrong);

}  // namespace assay::ROOM(layernorm_residual, row_offset_of_32_bits)
