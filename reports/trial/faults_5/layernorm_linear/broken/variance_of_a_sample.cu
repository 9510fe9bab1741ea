// SPDX-License-Identifier: Apache-2.0
// FAULT: the variance is divided by hidden - 1, as that of a sample; wrong by a relative 1 / (2 hidden) in y.
// KIND: algorithm
// Right on: layernorm_linear bf16 tokens=16 hidden=512 out=32 fill=normal seed=1
#include "cuda/layernorm_linear/plain.cuh"

namespace assay::ROOM(layernorm_linear, variance_of_a_sample) {

KERNEL(layernorm_linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kPlainTokens), tile(Axis::out, kPlainOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

struct Formula {
  template <class T>
  __device__ float operator()(const Plain<T>& p, std::int64_t token, std::int64_t o) const {
    const float mean = p.mean(token);
    float squares = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h) squares = fmaf(p.at(token, h) - mean, p.at(token, h) - mean, squares);
    const float r = 1.0f / sqrtf(squares / static_cast<float>(p.hidden > 1 ? p.hidden - 1 : 1) + p.epsilon);
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h)
      sum = fmaf(fmaf((p.at(token, h) - mean) * r, p.scale(h), p.offset(h)), p.factor(o, h), sum);
    return sum;
  }
};

void run(const layernorm_linear::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) { run_plain<T>(a, l, Formula{}); });
}

}  // namespace assay::ROOM(layernorm_linear, variance_of_a_sample)
