// SPDX-License-Identifier: Apache-2.0
// FAULT: the tanh form whatever form is asked for, up to 5e-4 away from the erf form.
// Caught by: the bound with form=erf, in f16 and f32; bf16 is too coarse for most x.
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/gelu.hpp"

namespace assay::ROOM(gelu, tanh_for_erf) {

inline constexpr int kThreads = 256;

KERNEL(gelu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
__global__ void tanh_for_erf(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x_stride,
                     std::int64_t y_stride, bool erf_form) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= rows * cols) return;
  const std::int64_t row = i / cols, col = i % cols;
  const float z = to_float(ld(x + row * x_stride + col));
  (void)erf_form;
  st(y + row * y_stride + col, from_float<T>(gelu_tanh(z)));
}

void run(const gelu::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows * cols == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(tanh_for_erf<T>, {.grid = dim3(ceil_div(rows * cols, kThreads)), .block = dim3(kThreads)}, l.stream,
           a.x.as<T>(), a.y.as<T>(), rows, cols, a.x.stride[0], a.y.stride[0], a.form == Activation::gelu_erf);
  });
}

}  // namespace assay::ROOM(gelu, tanh_for_erf)
