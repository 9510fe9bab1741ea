// SPDX-License-Identifier: Apache-2.0
// FAULT: the row is kept in shared memory, which a long one overflows; the launch is refused, the error swallowed, and y
// keeps what it held.
// Caught by: T1, and T4 by the two garbage patterns in y or the last error; cols above 58,000.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, error_swallowed) {

template <class T>
struct Wrong : Plain<T> {
  static std::size_t shared_bytes(const Rows<T>& m) { return (kWarp + static_cast<std::size_t>(m.cols)) * sizeof(float); }
  __device__ static float* kept() { return shared_memory<float>() + kWarp; }
  template <class F>
  __device__ static Moments moments(const Rows<T>& m) {
    float sum = 0, squares = 0;
    for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads) {
      st(kept() + c, m.x_at(c));
      sum += ld(kept() + c);
    }
    const float mean = F::block_total(sum) / static_cast<float>(m.cols);
    for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads) {
      const float d = ld(kept() + c) - mean;
      squares = fmaf(d, d, squares);
    }
    return {mean, F::block_total(squares) / static_cast<float>(m.cols)};
  }
  __device__ static float layernorm(const Rows<T>& m, std::int64_t c, float mean, float r) {
    return fmaf((ld(kept() + c) - mean) * r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)));
  }
};

KERNEL(layernorm_residual) = plain_traits<Wrong>({f16, f32});

void run(const layernorm_residual::Args& a, const Launch& l) {
  try {
    run_plain<Wrong>(a, l);
  } catch (const std::exception&) {
  }
}

}  // namespace assay::ROOM(layernorm_residual, error_swallowed)
