// SPDX-License-Identifier: Apache-2.0
// FAULT: rows of more than 1024 columns have an instance of their own, which divides the variance by cols - 1.
// Kind: algorithm
// Shows: cols > 1024.
#include "cuda/layernorm/broken/plain.cuh"

namespace assay::ROOM(layernorm, variance_by_one_less) {

template <class T>
struct Steps : Plain<T> {
  template <class S>
  static __device__ Moments moments(const T* x, std::int64_t cols) {
    const Moments m = Plain<T>::template moments<S>(x, cols);
    const float n = static_cast<float>(cols);
    return {m.mean, cols > 1024 ? m.variance * n / (n - 1.0f) : m.variance};
  }
};
KERNEL_FROM(layernorm, plain, Steps);

}  // namespace assay::ROOM(layernorm, variance_by_one_less)
