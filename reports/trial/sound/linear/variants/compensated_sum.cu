// SPDX-License-Identifier: Apache-2.0
// The plain kernel, its sum with Kahan's compensation: two roundings, whatever the number of terms, beside that of the product;
// so
// more lanes than there can be channels, and one addition.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, compensated_sum) {

template <class T>
struct Compensated : Plain<T> {
  template <class F>
  __device__ static float product(const Operands<T>& p, std::int64_t token, std::int64_t o) {
    float sum = 0, lost = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h) {
      const float term = p.x_at(token, h) * p.weight_at(o, h) - lost, larger = sum + term;
      lost = fabsf(larger) < INFINITY ? (larger - sum) - term : 0.0f;  // of an infinity nothing is known to be lost
      sum = larger;
    }
    return sum;
  }
};
KERNEL_DECLARING(linear, plain, Compensated,
                 (Numerics{.accumulate = f32, .chain = {.lanes = std::int64_t{1} << 40, .extra = 1}}));

}  // namespace assay::ROOM(linear, compensated_sum)
