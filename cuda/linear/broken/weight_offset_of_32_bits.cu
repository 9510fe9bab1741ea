// SPDX-License-Identifier: Apache-2.0
// FAULT: the offset of a weight's row is kept in an int: right while the weight has fewer than 2^31 elements.
// Caught by: T4, on the layout far: an access outside every tensor.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, weight_offset_of_32_bits) {

template <class T>
struct Wrong : Plain<T> {
  template <class F>
  __device__ static float product(const Operands<T>& p, std::int64_t token, std::int64_t o) {
    const int offset = static_cast<int>(o * p.weight_stride);
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h) sum = fmaf(p.x_at(token, h), to_float(ld(p.weight + offset + h)), sum);
    return sum;
  }
};
KERNEL_FROM(linear, plain, Wrong);

}  // namespace assay::ROOM(linear, weight_offset_of_32_bits)
