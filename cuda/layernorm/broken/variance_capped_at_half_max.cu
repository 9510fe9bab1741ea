// SPDX-License-Identifier: Apache-2.0
// FAULT: mean and variance are handed on in a struct of f16 range: a variance beyond 65504 is taken for 65504.
// Kind: range
// Caught by: the bound, with fill=wide_range (f16).
#include "cuda/layernorm/broken/plain.cuh"

namespace assay::ROOM(layernorm, variance_capped_at_half_max) {

template <class T>
struct Wrong : Plain<T> {
  template <class S>
  static __device__ Moments moments(const T* x, std::int64_t cols) {
    const Moments of = Plain<T>::template moments<S>(x, cols);
    return {of.mean, of.variance > 65504.0f ? 65504.0f : of.variance};
  }
};
KERNEL_FROM(layernorm, plain, Wrong);

}  // namespace assay::ROOM(layernorm, variance_capped_at_half_max)
