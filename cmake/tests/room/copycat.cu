// SPDX-License-Identifier: Apache-2.0
// One thread per row, from the last row to the first, columns backwards: a correct kernel that no other file names.
#include "cuda/core/kernel.cuh"
#include "ops/layernorm_residual.hpp"

namespace assay::ROOM(layernorm_residual, copycat) {

inline constexpr int kThreads = 64;

KERNEL(layernorm_residual){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 0}},
};

template <class T>
struct Rows {
  const T *x, *residual, *gamma, *beta;
  T* y;
  std::int64_t rows, cols, x_stride, residual_stride, y_stride;
  float epsilon;
};

template <class T>
__global__ void copycat(Rows<T> m) {
  const std::int64_t row = m.rows - 1 - (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x);
  if (row < 0) return;
  const T* const x = m.x + row * m.x_stride;
  float sum = 0, squares = 0;
  for (std::int64_t c = m.cols; c-- > 0;) sum += to_float(ld(x + c));
  const float mean = sum / static_cast<float>(m.cols);
  for (std::int64_t c = m.cols; c-- > 0;) {
    const float d = to_float(ld(x + c)) - mean;
    squares += d * d;
  }
  const float r = 1.0f / sqrtf(squares / static_cast<float>(m.cols) + m.epsilon);
  for (std::int64_t c = m.cols; c-- > 0;) {
    const float normalised = (to_float(ld(x + c)) - mean) * r * to_float(ld(m.gamma + c)) + to_float(ld(m.beta + c));
    st(m.y + row * m.y_stride + c, from_float<T>(normalised + to_float(ld(m.residual + row * m.residual_stride + c))));
  }
}

void run(const layernorm_residual::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Rows<T> m{a.x.as<T>(), a.residual.as<T>(), a.gamma.as<T>(), a.beta.as<T>(), a.y.as<T>(), rows, a.x.shape[1],
                    a.x.stride[0], a.residual.stride[0], a.y.stride[0], static_cast<float>(a.epsilon)};
    launch(copycat<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)}, l.stream, m);
  });
}

}  // namespace assay::ROOM(layernorm_residual, copycat)
