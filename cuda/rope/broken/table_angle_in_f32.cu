// SPDX-License-Identifier: Apache-2.0
// FAULT: the product of a position and a frequency of the table is taken in f32 and the declaration does not say so.
// Kind: precision
// Caught by: the bound with frequencies=given, from some hundred tokens on.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, table_angle_in_f32) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static Rotation rotation(const Problem<T>& p, int i, std::int64_t position) {
    return rotation_by(p.frequencies != nullptr ? static_cast<double>(p.narrow_angle(0, i, position)) : p.angle(i, position));
  }
};
KERNEL_FROM(rope, plain, Wrong);

}  // namespace assay::ROOM(rope, table_angle_in_f32)
