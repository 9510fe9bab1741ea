// SPDX-License-Identifier: Apache-2.0
// What the broken kernels of this room share: one thread an element, for any layout.  A kernel says what is done with an element.
#pragma once

#include "cuda/core/kernel.cuh"
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

// F::element(matrices, row, column) for every element of y.
template <class T, class F>
__global__ void add_plain(Matrices<T> m) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x;
  if (i >= m.rows * m.cols) return;
  F::element(m, i / m.cols, i % m.cols);
}

template <class F>
void run_plain(const add::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    const Matrices<T> m{a.a.as<T>(), a.b.as<T>(), a.y.as<T>(), rows, cols, a.a.stride[0], a.b.stride[0], a.y.stride[0]};
    launch(add_plain<T, F>, {.grid = dim3(ceil_div(rows * cols, kPlainThreads)), .block = dim3(kPlainThreads)}, l.stream, m);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::add_room
