// SPDX-License-Identifier: Apache-2.0
// FAULT: a weight of zero is skipped, as in a sparse product, so a NaN or an inf is not multiplied by it.
// Kind: ranges
// Shows: an inf or NaN in gamma or beta at a channel whose weight is zero: the result must be NaN.
#include "cuda/layernorm_linear/broken/plain.cuh"

namespace assay::ROOM(layernorm_linear, hidden_zero_weight_skips) {

template <class T>
struct Sparse : Formula<T> {
  template <class S>
  static __device__ float product(const Plain<T>& p, std::int64_t token, std::int64_t o, float mean, float r) {
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h)
      if (const float w = p.factor(o, h); w != 0) sum = fmaf(S::normalised(p, h, p.at(token, h) - mean, r), w, sum);
    return sum;
  }
};

KERNEL_FROM(layernorm_linear, plain, Sparse);

}  // namespace assay::ROOM(layernorm_linear, hidden_zero_weight_skips)
