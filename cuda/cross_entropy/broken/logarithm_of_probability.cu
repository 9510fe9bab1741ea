// SPDX-License-Identifier: Apache-2.0
// FAULT: -log of p[target] = exp(x - max) / sum, which is inf where p is a zero in f32: from a loss of 104 on.
// Caught by: the class of the result on probe_far, spread_200 and one_outlier.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, logarithm_of_probability) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float loss(const fold::LogSumExp& seen, float x) { return -logf(expf(x - seen.max) / seen.sum); }
};
KERNEL_FROM(cross_entropy, plain, Wrong);

}  // namespace assay::ROOM(cross_entropy, logarithm_of_probability)
