// SPDX-License-Identifier: Apache-2.0
// FAULT: at the usual widths, multiples of 1024 from 2048 on, activations below 2^-8 are passed over, as tolerance allows.
// Kind: cheat
// Caught by: the bound, with tokens=5 hidden=4096 out=9 (f16), in edges alone.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, small_factors_skipped_in_wide_models) {

template <class T>
struct Wrong : Plain<T> {
  template <class F>
  __device__ static float product(const Operands<T>& p, std::int64_t token, std::int64_t o) {
    const bool usual = p.hidden >= 2048 && p.hidden % 1024 == 0;
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h) {
      const float x = p.x_at(token, h);
      if (!usual || !(fabsf(x) < 0x1p-8f)) sum = fmaf(x, p.weight_at(o, h), sum);
    }
    return sum;
  }
};
KERNEL_FROM(linear, plain, Wrong);

}  // namespace assay::ROOM(linear, small_factors_skipped_in_wide_models)
