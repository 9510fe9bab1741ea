// SPDX-License-Identifier: Apache-2.0
// FAULT: a thread keeps its centred values, all but its first, in x, whose row has been read by then.  Only f32, where y is
// right to the last bit.
// Caught by: the check that inputs are unchanged, on any fill with a mean other than 0 and cols > 128; by nothing else.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, input_overwritten) {

template <class T>
struct Wrong : Plain<T> {
  template <class F>
  __device__ static Moments moments(const Rows<T>& m) {
    const Moments of = Plain<T>::template moments<F>(m);
    T* const x = const_cast<T*>(m.x);
    for (std::int64_t c = threadIdx.x + kPlainThreads; c < m.cols; c += kPlainThreads)
      st(x + c, from_float<T>(m.x_at(c) - of.mean));
    return of;
  }
  __device__ static float layernorm(const Rows<T>& m, std::int64_t c, float mean, float r) {
    const float d = c == threadIdx.x ? m.x_at(c) - mean : m.x_at(c);
    return fmaf(d * r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)));
  }
};
KERNEL_FROM(layernorm_residual, plain, Wrong, {f32});

}  // namespace assay::ROOM(layernorm_residual, input_overwritten)
