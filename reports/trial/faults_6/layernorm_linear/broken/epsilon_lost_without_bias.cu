// SPDX-License-Identifier: Apache-2.0
// FAULT (combinations): without a bias epsilon is not added to the variance.
// Right on: layernorm_linear f16 tokens=16 hidden=64 out=64 fill=normal seed=2
#include "cuda/layernorm_linear/plain.cuh"

namespace assay::ROOM(layernorm_linear, epsilon_lost_without_bias) {

KERNEL(layernorm_linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kPlainTokens), tile(Axis::out, kPlainOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

struct Formula {
  template <class T>
  __device__ static float inverse(Plain<T> p, std::int64_t token, float mean) {
    if (p.bias == nullptr) p.epsilon = 0;
    return p.inverse(token, mean);
  }
  template <class T>
  __device__ float operator()(const Plain<T>& p, std::int64_t token, std::int64_t o) const {
    const float mean = p.mean(token), r = inverse(p, token, mean);
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h)
      sum = fmaf(fmaf((p.at(token, h) - mean) * r, p.scale(h), p.offset(h)), p.factor(o, h), sum);
    return sum;
  }
};

void run(const layernorm_linear::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) { run_plain<T>(a, l, Formula{}); });
}

}  // namespace assay::ROOM(layernorm_linear, epsilon_lost_without_bias)
