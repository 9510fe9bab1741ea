// SPDX-License-Identifier: Apache-2.0
// FAULT: epsilon is added to the sum of the squares, before it is divided by hidden.
// Kind: algorithm
// Shows: an epsilon that is not small beside the variance.
#include "cuda/layernorm_linear/broken/plain.cuh"

namespace assay::ROOM(layernorm_linear, epsilon_in_the_sum_of_squares) {

template <class T>
struct Steps : Formula<T> {
  static __device__ float inverse(const Plain<T>& p, std::int64_t token, float mean) {
    float squares = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h) squares = fmaf(p.at(token, h) - mean, p.at(token, h) - mean, squares);
    return 1.0f / sqrtf((squares + p.epsilon) / static_cast<float>(p.hidden));
  }
};
KERNEL_FROM(layernorm_linear, plain, Steps);

}  // namespace assay::ROOM(layernorm_linear, epsilon_in_the_sum_of_squares)
