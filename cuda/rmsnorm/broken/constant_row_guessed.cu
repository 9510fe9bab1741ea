// SPDX-License-Identifier: Apache-2.0
// FAULT: a row whose first four elements and last one are equal is taken for constant, and normalised without its squares.
// Kind: cheat
// Caught by: the bound, with fill=signed_zeros (f16).
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, constant_row_guessed) {

template <class T>
struct Wrong : Plain<T> {
  template <class F>
  __device__ static float squares(const Rows<T>& m, const T* x) {
    const float v = to_float(ld(x));
    bool constant = m.cols >= 8 && to_float(ld(x + m.cols - 1)) == v;
    for (int c = 1; c < 4 && constant; ++c) constant = to_float(ld(x + c)) == v;
    return constant ? v * v * static_cast<float>(m.cols) : Plain<T>::template squares<F>(m, x);
  }
};
KERNEL_FROM(rmsnorm, plain, Wrong);

}  // namespace assay::ROOM(rmsnorm, constant_row_guessed)
