// SPDX-License-Identifier: Apache-2.0
// FAULT: a mean below a thousandth of the deviation is taken for zero, to keep the row as it is.
// Kind: algorithm
// Shows: f32, a row whose mean is small but not zero beside its deviation.
#include "cuda/layernorm/broken/plain.cuh"

namespace assay::ROOM(layernorm, small_mean_taken_for_zero) {

template <class T>
struct Uncentred : Plain<T> {
  template <class S>
  static __device__ Moments moments(const T* x, std::int64_t cols) {
    const Moments of = Plain<T>::template moments<S>(x, cols);
    return {of.mean * of.mean < 1e-6f * of.variance ? 0.0f : of.mean, of.variance};
  }
};

KERNEL_FROM(layernorm, plain, Uncentred);

}  // namespace assay::ROOM(layernorm, small_mean_taken_for_zero)
