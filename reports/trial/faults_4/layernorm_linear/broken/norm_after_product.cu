// SPDX-License-Identifier: Apache-2.0
// FAULT: folds the norm into the product: y = r (x (gamma W)^T - mean sum(gamma W)) + sum(beta W). In exact arithmetic it is
// the same. Visible in f32 where the mean of a row is far above its deviation: both terms are large and cancel.
// KIND: precision
#include "cuda/layernorm_linear/plain.cuh"

namespace assay::ROOM(layernorm_linear, norm_after_product) {

KERNEL(layernorm_linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kPlainTokens), tile(Axis::out, kPlainOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

struct Formula {
  template <class T>
  __device__ float operator()(const Plain<T>& p, std::int64_t token, std::int64_t o) const {
    const float mean = p.mean(token), r = p.inverse(token, mean);
    float sum = 0, gain = 0, shift = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h) {
      const float w = p.scale(h) * p.factor(o, h);
      sum = fmaf(p.at(token, h), w, sum);
      gain += w;
      shift = fmaf(p.offset(h), p.factor(o, h), shift);
    }
    return fmaf(r, sum - mean * gain, shift);
  }
};

void run(const layernorm_linear::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) { run_plain<T>(a, l, Formula{}); });
}

}  // namespace assay::ROOM(layernorm_linear, norm_after_product)
