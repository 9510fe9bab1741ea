// SPDX-License-Identifier: Apache-2.0
// The step of a plain kernel (core/kernel_family.cuh): the value of an element, one thread each, for any layout.
#pragma once

#include "cuda/core/activation.cuh"
#include "cuda/core/kernel_family.cuh"
#include "ops/silu_mul.hpp"

namespace assay::ASSAY_FLAVOUR::silu_mul_room {

inline constexpr int kPlainThreads = 256;

// The step as it should be.
template <class T>
struct Plain {
  __device__ static float value(float gate, float up, std::int64_t /*col*/, std::int64_t /*cols*/) { return silu(gate) * up; }
};

template <class T, class F>
__global__ void silu_mul_plain(const T* gate, const T* up, T* y, std::int64_t rows, std::int64_t cols, std::int64_t gate_stride,
                               std::int64_t up_stride, std::int64_t y_stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x;
  if (i >= rows * cols) return;
  const std::int64_t row = i / cols, col = i % cols;
  const float g = to_float(ld(gate + row * gate_stride + col)), u = to_float(ld(up + row * up_stride + col));
  st(y + row * y_stride + col, from_float<T>(F::value(g, u, col, cols)));
}

template <template <class> class F>
constexpr KernelTraits<silu_mul> plain_traits(DTypes dtypes = kEveryType) {
  return {.dtypes = dtypes, .tiles = {tile(Axis::cols, kPlainThreads)}, .numerics = {.accumulate = f32}};
}

template <template <class> class F>
void run_plain(const silu_mul::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(silu_mul_plain<T, F<T>>, {.grid = dim3(ceil_div(rows * cols, kPlainThreads)), .block = dim3(kPlainThreads)}, l.stream,
           a.gate.as<T>(), a.up.as<T>(), a.y.as<T>(), rows, cols, a.gate.stride[0], a.up.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::silu_mul_room
