// SPDX-License-Identifier: Apache-2.0
// FAULT: whether the weight is [out, hidden] or [hidden, out] is guessed from its shape, and a square one is taken for
// [hidden, out].
// Kind: layout
// Shows: hidden = out.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, square_weight_transposed) {

template <class T>
struct Guessed : Plain<T> {
  template <class F>
  __device__ static float product(const Operands<T>& p, std::int64_t token, std::int64_t o) {
    const bool transposed = p.hidden == p.out;
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h)
      sum = fmaf(p.x_at(token, h), transposed ? p.weight_at(h, o) : p.weight_at(o, h), sum);
    return sum;
  }
};

KERNEL_FROM(linear, plain, Guessed);

}  // namespace assay::ROOM(linear, square_weight_transposed)
