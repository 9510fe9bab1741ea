// SPDX-License-Identifier: Apache-2.0
// What most broken kernels of this room share: a block a row, two passes, for any layout.  The steps are right; a kernel
// replaces one.
#pragma once

#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/layernorm_residual.hpp"

namespace assay::ASSAY_FLAVOUR::layernorm_residual_room {

inline constexpr int kPlainThreads = 128;

template <class T>
struct Rows {
  const T *x, *residual, *gamma, *beta;
  T* y;
  std::int64_t rows, cols, x_stride, residual_stride, y_stride;
  float epsilon;
  __device__ float x_at(std::int64_t c) const { return to_float(ld(x + c)); }
};
template <class T>
Rows<T> rows_of(const layernorm_residual::Args& a) {
  return {a.x.as<T>(),
          a.residual.as<T>(),
          a.gamma.as<T>(),
          a.beta.as<T>(),
          a.y.as<T>(),
          a.x.shape[0],
          a.x.shape[1],
          a.x.stride[0],
          a.residual.stride[0],
          a.y.stride[0],
          static_cast<float>(a.epsilon)};
}

template <class T>
struct Plain {
  static constexpr int kThreads = kPlainThreads;

  __device__ static void advance(Rows<T>& m, std::int64_t row) {
    m.x += row * m.x_stride, m.residual += row * m.residual_stride, m.y += row * m.y_stride;
  }
  __device__ static float mean(const Rows<T>& m) {
    float sum = 0;
    for (std::int64_t c = threadIdx.x; c < m.cols; c += blockDim.x) sum += m.x_at(c);
    return block_sum(sum, shared_memory<float>()) / static_cast<float>(m.cols);
  }
  __device__ static float squares(const Rows<T>& m, float mean) {
    float squares = 0;
    for (std::int64_t c = threadIdx.x; c < m.cols; c += blockDim.x) {
      const float d = m.x_at(c) - mean;
      squares = fmaf(d, d, squares);
    }
    return block_sum(squares, shared_memory<float>());
  }
  // 1 / deviation.
  __device__ static float inverse(const Rows<T>& m, float squares) {
    return 1.0f / sqrtf(squares / static_cast<float>(m.cols) + m.epsilon);
  }
  __device__ static float layernorm(const Rows<T>& m, std::int64_t c, float mean, float r) {
    return fmaf((m.x_at(c) - mean) * r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)));
  }
  // How many columns are written.
  __device__ static std::int64_t end(std::int64_t cols) { return cols; }
};

template <class T, class F>
__global__ void layernorm_residual_plain(Rows<T> m) {
  F::advance(m, blockIdx.x);
  const float mean = F::mean(m), r = F::inverse(m, F::squares(m, mean));
  for (std::int64_t c = threadIdx.x; c < F::end(m.cols); c += blockDim.x)
    st(m.y + c, from_float<T>(F::layernorm(m, c, mean, r) + to_float(ld(m.residual + c))));
}

// F is a Plain<T>.
template <class T, class F>
void launch_plain(const Rows<T>& m, void* stream) {
  if (m.rows == 0) return;
  launch(layernorm_residual_plain<T, F>,
         {.grid = dim3(m.rows), .block = dim3(F::kThreads), .shared_bytes = kWarp * sizeof(float)}, stream, m);
}
template <template <class> class F>
void run_plain(const layernorm_residual::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) { launch_plain<T, F<T>>(rows_of<T>(a), l.stream); });
}

}  // namespace assay::ASSAY_FLAVOUR::layernorm_residual_room
