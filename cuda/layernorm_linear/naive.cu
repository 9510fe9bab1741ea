// SPDX-License-Identifier: Apache-2.0
// One thread per output: mean and variance of its row in two passes, then the sum of n w as a serial FMA chain.  Any layout.
// Every output recomputes its row's mean and variance.
#include "cuda/layernorm_linear/plain.cuh"

namespace assay::ROOM(layernorm_linear, naive) {

KERNEL(layernorm_linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kPlainTokens), tile(Axis::out, kPlainOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

struct Formula {
  template <class T>
  __device__ float operator()(const Plain<T>& p, std::int64_t token, std::int64_t o) const {
    const float mean = p.mean(token), r = p.inverse(token, mean);
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h)
      sum = fmaf(fmaf((p.at(token, h) - mean) * r, p.scale(h), p.offset(h)), p.factor(o, h), sum);
    return sum;
  }
};

void run(const layernorm_linear::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) { run_plain<T>(a, l, Formula{}); });
}

}  // namespace assay::ROOM(layernorm_linear, naive)
