// SPDX-License-Identifier: Apache-2.0
// FAULT: var = mean(x^2) - mean^2 in f32. Right on centred data.
// Caught by: the bound on large_mean_1000.
#include "cuda/layernorm_linear/plain.cuh"

namespace assay::ROOM(layernorm_linear, one_pass_variance) {

KERNEL(layernorm_linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kPlainTokens), tile(Axis::out, kPlainOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

struct Wrong {
  template <class T>
  __device__ float operator()(const Plain<T>& p, std::int64_t token, std::int64_t o) const {
    const float mean = p.mean(token);
    float squares = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h) squares = fmaf(p.at(token, h), p.at(token, h), squares);
    const float variance = fmaxf(squares / static_cast<float>(p.hidden) - mean * mean, 0.0f);
    const float r = 1.0f / sqrtf(variance + p.epsilon);
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h)
      sum = fmaf(fmaf((p.at(token, h) - mean) * r, p.scale(h), p.offset(h)), p.factor(o, h), sum);
    return sum;
  }
};

void run(const layernorm_linear::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) { run_plain<T>(a, l, Wrong{}); });
}

}  // namespace assay::ROOM(layernorm_linear, one_pass_variance)
