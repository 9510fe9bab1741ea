// SPDX-License-Identifier: Apache-2.0
// FAULT (layout): the row of an element is its index times 1/cols in f32, which is one short for some widths.
// Right on: gelu f16 rows=64 cols=256 fill=normal seed=2
#include "cuda/core/kernel.cuh"
#include "ops/gelu.hpp"

namespace assay::ROOM(gelu, row_by_reciprocal) {

inline constexpr int kThreads = 256;

KERNEL(gelu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .cancelling_gelu = true},
};

template <class T>
__global__ void gelu_row_by_reciprocal(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x_stride,
                                       std::int64_t y_stride, bool erf_form) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= rows * cols) return;
  const std::int64_t row = static_cast<std::int64_t>(static_cast<float>(i) * (1.0f / static_cast<float>(cols))),
                     col = i - row * cols;
  const float z = to_float(ld(x + row * x_stride + col));
  const float g = erf_form ? erff(z * 0.7071067811865476f) : tanhf(0.7978845608028654f * (z + 0.044715f * (z * z * z)));
  st(y + row * y_stride + col, from_float<T>(0.5f * z * (1.0f + g)));
}

void run(const gelu::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows * cols == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(gelu_row_by_reciprocal<T>, {.grid = dim3(ceil_div(rows * cols, kThreads)), .block = dim3(kThreads)}, l.stream,
           a.x.as<T>(), a.y.as<T>(), rows, cols, a.x.stride[0], a.y.stride[0], a.form == Activation::gelu_erf);
  });
}

}  // namespace assay::ROOM(gelu, row_by_reciprocal)
