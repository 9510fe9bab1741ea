// SPDX-License-Identifier: Apache-2.0
// A column a thread, which goes down 8 rows; the sigmoid's exponential is exp2 of the exponent times log2(e): the constant and
// the
// product are two roundings more, half a unit of the last place each.  exp2_approx makes subnormal results zero.
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/gelu.hpp"

namespace assay::ROOM(gelu, columns_by_exp2) {

inline constexpr int kThreads = 64;
inline constexpr std::int64_t kRows = 8;

KERNEL(gelu){.dtypes = {f16, bf16, f32},
             .tiles = {tile(Axis::rows, kRows), tile(Axis::cols, kThreads)},
             .numerics = {.accumulate = f32, .exponent_error = 2, .flushes_subnormals = true}};

__device__ inline float by_exp2(float z) {
  constexpr float kLinear = 1.5957691216057308f, kCubic = 0.07135481627260025f;  // 2 sqrt(2/pi), 0.044715 times it
  const float v = z * fmaf(kCubic, z * z, kLinear), t = exp2_approx(-fabsf(v) * 1.4426950408889634f);
  return (v < 0.0f ? z * t : z) / (1.0f + t);
}

template <class T>
__global__ void gelu_columns_by_exp2(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t across,
                                     std::int64_t x_stride, std::int64_t y_stride, bool erf_form) {
  const std::int64_t col = static_cast<std::int64_t>(blockIdx.x) % across * kThreads + threadIdx.x;
  if (col >= cols) return;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) / across * kRows;
  for (std::int64_t row = first; row < rows && row < first + kRows; ++row) {
    const float z = to_float(ld(x + row * x_stride + col));
    st(y + row * y_stride + col, from_float<T>(erf_form ? gelu_erf(z) : by_exp2(z)));
  }
}

void run(const gelu::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1], across = ceil_div(cols, kThreads);
  if (rows * cols == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(gelu_columns_by_exp2<T>, {.grid = dim3(across * ceil_div(rows, kRows)), .block = dim3(kThreads)}, l.stream,
           a.x.as<T>(), a.y.as<T>(), rows, cols, across, a.x.stride[0], a.y.stride[0], a.form == Activation::gelu_erf);
  });
}

}  // namespace assay::ROOM(gelu, columns_by_exp2)
