// SPDX-License-Identifier: Apache-2.0
// A plain kernel for those that differ around it: GELU of an element, one thread each, for any layout.
#pragma once

#include "cuda/core/activation.cuh"
#include "cuda/core/kernel_family.cuh"
#include "ops/gelu.hpp"

namespace assay::ASSAY_FLAVOUR::gelu_room {

inline constexpr int kPlainThreads = 256;

__device__ inline float plain_gelu(float z, bool erf_form) { return erf_form ? gelu_erf(z) : gelu_tanh(z); }

template <class T>
__global__ void gelu_plain(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x_stride, std::int64_t y_stride,
                           bool erf_form) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x;
  if (i >= rows * cols) return;
  const std::int64_t row = i / cols, col = i % cols;
  st(y + row * y_stride + col, from_float<T>(plain_gelu(to_float(ld(x + row * x_stride + col)), erf_form)));
}

inline constexpr KernelTraits<gelu> plain_traits() {
  return {.dtypes = kEveryType, .tiles = {tile(Axis::cols, kPlainThreads)}, .numerics = {.accumulate = f32}};
}

inline void run_plain(const gelu::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows * cols == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(gelu_plain<T>, {.grid = dim3(ceil_div(rows * cols, kPlainThreads)), .block = dim3(kPlainThreads)}, l.stream,
           a.x.as<T>(), a.y.as<T>(), rows, cols, a.x.stride[0], a.y.stride[0], a.form == Activation::gelu_erf);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::gelu_room
