// SPDX-License-Identifier: Apache-2.0
// Element-wise steps over the rows of matrices, for pipelines of one kernel a step: packs of 16 bytes, several in flight, for
// any number of columns; element by element where rows do not start at multiples of 16 bytes.
#pragma once

#include "cuda/core/kernel.cuh"

namespace assay::ASSAY_FLAVOUR::pointwise {

inline constexpr int kThreads = 256, kBatch = 4;

template <class T>
struct Rows {
  const T* data;
  std::int64_t stride;  // elements; 0: one row for all
};
// The N columns from `col` on, or those that the row has.
template <class T, int N>
__device__ inline Vec<T, N> load_part(const Rows<T>& m, std::int64_t row, std::int64_t col, std::int64_t cols) {
  const T* const p = m.data + row * m.stride + col;
  if (col + N <= cols) return ld(reinterpret_cast<const Vec<T, N>*>(p));
  Vec<T, N> v{};
  for (int j = 0; j < N; ++j)
    if (col + j < cols) v[j] = ld(p + j);
  return v;
}

// What f is applied to: kInputs matrices of one shape.
template <class T, int kInputs>
struct Inputs {
  Rows<T> rows[kInputs];
};

// y = f(a) or f(a, b) element by element, in f32.
template <class T, int N, int kInputs, class F>
__global__ void __launch_bounds__(kThreads)
    pointwise_map(Inputs<T, kInputs> in, T* y, std::int64_t y_stride, std::int64_t rows, std::int64_t cols, F f) {
  const std::int64_t packs_a_row = ceil_div(cols, N), packs = rows * packs_a_row;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
  // Note: a 64-bit division costs as much as a load.
  const auto row_of = [&](std::int64_t pack) { return rows == 1 ? std::int64_t{0} : pack / packs_a_row; };
  for (std::int64_t base = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; base < packs;
       base += kBatch * stride) {
    Vec<T, N> v[kInputs][kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const std::int64_t p = base + i * stride, row = row_of(p);
      if (p >= packs) continue;
#pragma unroll
      for (int k = 0; k < kInputs; ++k) v[k][i] = load_part<T, N>(in.rows[k], row, (p - row * packs_a_row) * N, cols);
    }
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const std::int64_t p = base + i * stride, row = row_of(p), col = (p - row * packs_a_row) * N;
      if (p >= packs) continue;
      float result[N];
#pragma unroll
      for (int j = 0; j < N; ++j) {
        if constexpr (kInputs == 1) result[j] = f(to_float(v[0][i][j]));
        else result[j] = f(to_float(v[0][i][j]), to_float(v[1][i][j]));
      }
      const Vec<T, N> out = from_floats<T>(result);
      T* const to = y + row * y_stride + col;
      if (col + N <= cols) st(reinterpret_cast<Vec<T, N>*>(to), out);
      else
        for (int j = 0; j < N && col + j < cols; ++j) st(to + j, out[j]);
    }
  }
}

// `wide`: every row of the inputs and of y starts at a multiple of 16 bytes.
template <class T, int kInputs, class F>
void map(const Inputs<T, kInputs>& in, T* y, std::int64_t y_stride, std::int64_t rows, std::int64_t cols, bool wide, F f,
         void* stream) {
  const auto go = [&]<int N>(std::integral_constant<int, N>) {
    constexpr std::int64_t kMostBlocks = 1 << 20;  // beyond, the loop takes over
    const std::int64_t blocks = std::min(ceil_div(rows * ceil_div(cols, N), kThreads * kBatch), kMostBlocks);
    launch(pointwise_map<T, N, kInputs, F>, {.grid = dim3(blocks), .block = dim3(kThreads)}, stream, in, y, y_stride, rows, cols,
           f);
  };
  wide ? go(std::integral_constant<int, 16 / sizeof(T)>{}) : go(std::integral_constant<int, 1>{});
}
// The rows of matrices that are all contiguous are one long row.
struct Extent {
  std::int64_t rows, cols;
};
template <class... Tensors>
Extent extent_of(const Tensor& y, const Tensors&... inputs) {
  if (y.contiguous() && (inputs.contiguous() && ...)) return {1, y.size()};
  return {y.shape[0], y.shape[1]};
}
// Whether every row of that extent starts at a multiple of 16 bytes.
inline bool starts_aligned(const Tensor& t, const Extent& e) {
  return e.rows == 1 ? reinterpret_cast<std::uintptr_t>(t.data) % 16 == 0 : t.rows_aligned(16);
}

template <class T, class F>
void unary(Rows<T> a, T* y, std::int64_t y_stride, std::int64_t rows, std::int64_t cols, bool wide, F f, void* stream) {
  map<T, 1>({{a}}, y, y_stride, rows, cols, wide, f, stream);
}
template <class T, class F>
void binary(Rows<T> a, Rows<T> b, T* y, std::int64_t y_stride, std::int64_t rows, std::int64_t cols, bool wide, F f,
            void* stream) {
  map<T, 2>({{a, b}}, y, y_stride, rows, cols, wide, f, stream);
}

}  // namespace assay::ASSAY_FLAVOUR::pointwise
