// SPDX-License-Identifier: Apache-2.0
// FAULT: 1 / sqrt(var), without epsilon. Right to many digits on rows of deviation 1.
// Caught by: the bound on tiny_rows; zero_rows are NaN.
#include "cuda/layernorm_linear/plain.cuh"

namespace assay::ROOM(layernorm_linear, epsilon_dropped) {

KERNEL(layernorm_linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kPlainTokens), tile(Axis::out, kPlainOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

struct Wrong {
  template <class T>
  __device__ float operator()(const Plain<T>& p, std::int64_t token, std::int64_t o) const {
    Plain<T> without = p;
    without.epsilon = 0;
    const float mean = p.mean(token), r = without.inverse(token, mean);
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h)
      sum = fmaf(fmaf((p.at(token, h) - mean) * r, p.scale(h), p.offset(h)), p.factor(o, h), sum);
    return sum;
  }
};

void run(const layernorm_linear::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) { run_plain<T>(a, l, Wrong{}); });
}

}  // namespace assay::ROOM(layernorm_linear, epsilon_dropped)
