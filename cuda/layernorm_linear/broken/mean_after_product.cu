// SPDX-License-Identifier: Apache-2.0
// FAULT: the epilogue takes mean * sum gamma w from sum x gamma w, which f32 has rounded. Right on centred data.
// Caught by: the bound on large_mean_100 and large_mean_1000, and on one_sided.
#include "cuda/layernorm_linear/broken/plain.cuh"

namespace assay::ROOM(layernorm_linear, mean_after_product) {

template <class T>
struct Wrong : Formula<T> {
  template <class S>
  static __device__ float product(const Plain<T>& p, std::int64_t token, std::int64_t o, float mean, float r) {
    float product = 0, gain = 0, shift = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h) {
      const float gw = p.scale(h) * p.factor(o, h);
      product = fmaf(p.at(token, h), gw, product);
      gain += gw;
      shift = fmaf(p.offset(h), p.factor(o, h), shift);
    }
    return r * (product - mean * gain) + shift;
  }
};
KERNEL_FROM(layernorm_linear, plain, Wrong);

}  // namespace assay::ROOM(layernorm_linear, mean_after_product)
