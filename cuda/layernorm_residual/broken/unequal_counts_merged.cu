// SPDX-License-Identifier: Apache-2.0
// FAULT: means and squares of threads are merged as if all had seen equally many columns: m = (m1 + m2) / 2. Right where cols
// is a multiple of the block.
// Caught by: T1, cols no multiple of 128.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, unequal_counts_merged) {

template <class T>
struct Wrong : Plain<T> {
  static std::size_t shared_bytes(const Rows<T>&) { return 2 * kPlainThreads * sizeof(float); }
  template <class F>
  __device__ static Moments moments(const Rows<T>& m) {
    // Each thread by Welford's recurrence, then pairs by Chan's formula.
    float own = 0, m2 = 0, seen = 0;
    for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads) {
      const float d = m.x_at(c) - own;
      seen += 1.0f;
      own += d / seen;
      m2 = fmaf(d, m.x_at(c) - own, m2);
    }
    const int thread = static_cast<int>(threadIdx.x);
    float *const means = shared_memory<float>(), *const squares = means + kPlainThreads;
    st(means + thread, own);
    st(squares + thread, m2);
    sync_block();
    float count = static_cast<float>(m.cols) / kPlainThreads;
    for (int half = kPlainThreads / 2; half > 0; half /= 2, count *= 2.0f) {
      if (thread < half) {
        const float a = ld(means + thread), b = ld(means + thread + half);
        st(squares + thread, ld(squares + thread) + ld(squares + thread + half) + (a - b) * (a - b) * count / 2.0f);
        st(means + thread, (a + b) / 2.0f);
      }
      sync_block();
    }
    return {ld(means), ld(squares) / static_cast<float>(m.cols)};
  }
};
KERNEL_FROM(layernorm_residual, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(layernorm_residual, unequal_counts_merged)
