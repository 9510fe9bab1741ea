// SPDX-License-Identifier: Apache-2.0
// FAULT: the squares of the channels after the last eight are added up in bfloat16.
// Kind: precision
// Shows: hidden not a multiple of 8.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, squares_of_tail_in_bf16) {

template <class T>
struct Steps : Plain<T> {
  template <class F>
  __device__ static float squares(const Operands<T>& p, std::int64_t token) {
    const std::int64_t whole = p.hidden / 8 * 8;
    float squares = 0;
    for (std::int64_t h = 0; h < whole; ++h) squares = F::added_square(squares, p.x_at(token, h));
    bfloat16 tail = from_float<bfloat16>(0.0f);
    for (std::int64_t h = whole; h < p.hidden; ++h)
      tail = from_float<bfloat16>(F::added_square(to_float(tail), p.x_at(token, h)));
    return squares + to_float(tail);
  }
};
KERNEL_FROM(rmsnorm_gemm, plain, Steps);

}  // namespace assay::ROOM(rmsnorm_gemm, squares_of_tail_in_bf16)
