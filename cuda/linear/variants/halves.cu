// SPDX-License-Identifier: Apache-2.0
// The plain kernel, its sum taken in two halves, each rounded product by product and not fused.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, halves) {

template <class T>
struct Halves : Plain<T> {
  template <class F>
  __device__ static float product(const Operands<T>& p, std::int64_t token, std::int64_t o) {
    float low = 0, high = 0;
    const std::int64_t half_way = p.hidden / 2;
    for (std::int64_t h = 0; h < half_way; ++h) low += p.x_at(token, h) * p.weight_at(o, h);
    for (std::int64_t h = half_way; h < p.hidden; ++h) high += p.x_at(token, h) * p.weight_at(o, h);
    return high + low;
  }
};
KERNEL_FROM(linear, plain, Halves);

}  // namespace assay::ROOM(linear, halves)
