// SPDX-License-Identifier: Apache-2.0
// The step of a plain kernel (core/kernel_family.cuh): what is done with an element, one thread each, for any layout.
#pragma once

#include "cuda/core/kernel_family.cuh"
#include "ops/add.hpp"

namespace assay::ASSAY_FLAVOUR::add_room {

inline constexpr int kPlainThreads = 256;

template <class T>
struct Matrices {
  T* a;
  const T* b;
  T* y;
  std::int64_t rows, cols, a_stride, b_stride, y_stride;
  __device__ float a_at(std::int64_t row, std::int64_t col) const { return to_float(ld(a + row * a_stride + col)); }
  __device__ float b_at(std::int64_t row, std::int64_t col) const { return to_float(ld(b + row * b_stride + col)); }
  __device__ void store(std::int64_t row, std::int64_t col, float v) const { st(y + row * y_stride + col, from_float<T>(v)); }
};

// The step as it should be.
template <class T>
struct Plain {
  __device__ static void element(const Matrices<T>& m, std::int64_t row, std::int64_t col) {
    m.store(row, col, m.a_at(row, col) + m.b_at(row, col));
  }
};

template <class T, class F>
__global__ void add_plain(Matrices<T> m) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x;
  if (i >= m.rows * m.cols) return;
  F::element(m, i / m.cols, i % m.cols);
}

template <template <class> class F>
constexpr KernelTraits<add> plain_traits(DTypes dtypes = kEveryType) {
  return {.dtypes = dtypes, .tiles = {tile(Axis::cols, kPlainThreads)}, .numerics = {.accumulate = f32}};
}

template <template <class> class F>
void run_plain(const add::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    const Matrices<T> m{a.a.as<T>(), a.b.as<T>(), a.y.as<T>(), rows, cols, a.a.stride[0], a.b.stride[0], a.y.stride[0]};
    launch(add_plain<T, F<T>>, {.grid = dim3(ceil_div(rows * cols, kPlainThreads)), .block = dim3(kPlainThreads)}, l.stream, m);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::add_room
