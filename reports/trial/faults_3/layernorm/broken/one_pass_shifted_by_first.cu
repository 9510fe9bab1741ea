// SPDX-License-Identifier: Apache-2.0
// FAULT: mean and variance come from one pass over x less the row's first element, which loses digits where that element is far
// off.
// Kind: precision
// Shows: rows whose first element is far from the mean, in units of the deviation.
#include "cuda/layernorm/broken/plain.cuh"

namespace assay::ROOM(layernorm, one_pass_shifted_by_first) {

template <class T>
struct Shifted : Plain<T> {
  template <class S>
  static __device__ Moments moments(const T* x, std::int64_t cols) {
    const float first = to_float(ld(x)), n = static_cast<float>(cols);
    float sum = 0, squares = 0;
    for (std::int64_t c = threadIdx.x; c < cols; c += kPlainThreads) {
      const float d = to_float(ld(x + c)) - first;
      sum += d, squares = fmaf(d, d, squares);
    }
    const float mean = S::block_total(sum) / n, variance = S::block_total(squares) / n - mean * mean;
    return {first + mean, variance > 0 ? variance : 0.0f};
  }
};
KERNEL_FROM(layernorm, plain, Shifted);

}  // namespace assay::ROOM(layernorm, one_pass_shifted_by_first)
