// SPDX-License-Identifier: Apache-2.0
// FAULT: var = mean(x^2) - mean^2 in f32. Right on centred data.
// Caught by: the bound on large_mean_1000.
#include "cuda/layernorm_linear/broken/plain.cuh"

namespace assay::ROOM(layernorm_linear, one_pass_variance) {

template <class T>
struct Wrong : Formula<T> {
  static __device__ float inverse(const Plain<T>& p, std::int64_t token, float mean) {
    float squares = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h) squares = fmaf(p.at(token, h), p.at(token, h), squares);
    const float variance = fmaxf(squares / static_cast<float>(p.hidden) - mean * mean, 0.0f);
    return 1.0f / sqrtf(variance + p.epsilon);
  }
};
KERNEL_FROM(layernorm_linear, plain, Wrong);

}  // namespace assay::ROOM(layernorm_linear, one_pass_variance)
