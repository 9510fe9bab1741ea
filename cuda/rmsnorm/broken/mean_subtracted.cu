// SPDX-License-Identifier: Apache-2.0
// FAULT: the row is centred before its squares are summed, as a LayerNorm does: the deviation for the root mean square.
// Caught by: the bound, on fills whose mean is not zero (uniform01, large_mean), and on random ones in f32 or of few columns.
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, mean_subtracted) {

template <class T>
struct Wrong : Plain<T> {
  template <class F>
  __device__ static float squares(const Rows<T>& m, const T* x) {
    float sum = 0, squares = 0;
    for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads) sum += to_float(ld(x + c));
    const float mean = block_sum(sum, shared_memory<float>()) / static_cast<float>(m.cols);
    for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads)
      squares = F::added_square(squares, to_float(ld(x + c)) - mean);
    return block_sum(squares, shared_memory<float>());
  }
};
KERNEL_FROM(rmsnorm, plain, Wrong);

}  // namespace assay::ROOM(rmsnorm, mean_subtracted)
