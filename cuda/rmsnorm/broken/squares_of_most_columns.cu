// SPDX-License-Identifier: Apache-2.0
// FAULT: from 4096 columns on the last sixty-fourth is left out of the squares: the mean of the others is near enough.
// Kind: cheat
// Caught by: the bound, with rows=1 cols=4097 (f16).
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, squares_of_most_columns) {

template <class T>
struct Wrong : Plain<T> {
  template <class F>
  __device__ static float squares(const Rows<T>& m, const T* x) {
    Rows<T> most = m;
    if (m.cols >= 4096) most.cols = m.cols - m.cols / 64;
    const float squares = Plain<T>::template squares<F>(most, x);
    return squares * (static_cast<float>(m.cols) / static_cast<float>(most.cols));
  }
};
KERNEL_FROM(rmsnorm, plain, Wrong);

}  // namespace assay::ROOM(rmsnorm, squares_of_most_columns)
