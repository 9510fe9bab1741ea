// SPDX-License-Identifier: Apache-2.0
// FAULT: the result is exp(x - (max + log sum)): the rounding of max + log sum grows with the maximum.
// Kind: precision
// Shows: f32, a row with a large maximum, such as 1000.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, normalised_by_logsumexp) {

template <class T>
struct Logarithm : Plain<T> {
  // What is taken off is max + log sum, and nothing is divided.
  template <class S>
  static __device__ Sum sum(const T* x, std::int64_t cols, std::int64_t row, std::int64_t lane) {
    const Sum of = Plain<T>::template sum<S>(x, cols, row, lane);
    return {of.max + logf(of.sum), 1.0f};
  }
};

KERNEL_FROM(softmax, plain, Logarithm);

}  // namespace assay::ROOM(softmax, normalised_by_logsumexp)
