// SPDX-License-Identifier: Apache-2.0
// Element-wise steps over the rows of matrices, for pipelines of one kernel a step: packs of 16 bytes, several in flight, for
// any number of columns; element by element where rows do not start at multiples of 16 bytes.
#pragma once

#include "cuda/core/kernel.cuh"

namespace assay::ASSAY_FLAVOUR::pointwise {

inline constexpr int kThreads = 256;

template <class T>
struct Rows {
  const T* data;
  std::int64_t stride;  // elements; 0: one row for all
};

// What f is applied to: kInputs matrices of one shape.
template <class T, int kInputs>
struct Inputs {
  static constexpr int kBatch = kInputs == 1 ? 4 : 2;  // packs of each in flight: 64 bytes a thread, all threads resident
  Rows<T> rows[kInputs];
};

// Items of work: the whole packs of N columns of every row, then what is left of every row, column by column.
template <int N>
struct Items {
  std::int64_t packs_a_row, packs, left_a_row, all;
  Items(std::int64_t rows, std::int64_t cols)
      : packs_a_row(cols / N), packs(rows * packs_a_row), left_a_row(cols % N), all(packs + rows * left_a_row) {}
};
struct Place {
  std::int64_t row, col;
};
// Note: a 64-bit division costs as much as a load.
__device__ inline Place place_of(std::int64_t item, std::int64_t a_row) {
  const bool narrow = item <= 0xffffffffll && a_row <= 0xffffffffll;
  const std::int64_t row = narrow ? static_cast<std::uint32_t>(item) / static_cast<std::uint32_t>(a_row) : item / a_row;
  return {row, item - row * a_row};
}

// y = f(a) or f(a, b) element by element, in f32.
template <class T, int N, bool kOneRow, int kInputs, class F>
__global__ void __launch_bounds__(kThreads)
    pointwise_map(Inputs<T, kInputs> in, T* y, std::int64_t y_stride, Items<N> items, F f) {
  constexpr int kBatch = Inputs<T, kInputs>::kBatch;
  using Pack = Vec<T, N>;
  const auto apply = [&](auto&&... x) { return f(to_float(x)...); };
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * (kThreads * kBatch) + threadIdx.x;
  Pack v[kInputs][kBatch]{};
  Place at[kBatch]{};
#pragma unroll
  for (int i = 0; i < kBatch; ++i) {
    const std::int64_t item = first + i * kThreads;
    if (item >= items.packs) continue;
    at[i] = kOneRow ? Place{0, item} : place_of(item, items.packs_a_row);
#pragma unroll
    for (int k = 0; k < kInputs; ++k)
      v[k][i] = ld(reinterpret_cast<const Pack*>(in.rows[k].data + at[i].row * in.rows[k].stride + at[i].col * N));
  }
#pragma unroll
  for (int i = 0; i < kBatch; ++i) {
    const std::int64_t item = first + i * kThreads;
    if (item < items.packs) {
      float result[N];
#pragma unroll
      for (int j = 0; j < N; ++j) {
        if constexpr (kInputs == 1) result[j] = apply(v[0][i][j]);
        else result[j] = apply(v[0][i][j], v[1][i][j]);
      }
      st(reinterpret_cast<Pack*>(y + at[i].row * y_stride + at[i].col * N), from_floats<T>(result));
    } else if (N > 1 && item < items.all) {
      const Place left = place_of(item - items.packs, items.left_a_row);
      const std::int64_t col = items.packs_a_row * N + left.col;
      const auto input = [&](int k) { return ld(in.rows[k].data + left.row * in.rows[k].stride + col); };
      float result;
      if constexpr (kInputs == 1) result = apply(input(0));
      else result = apply(input(0), input(1));
      st(y + left.row * y_stride + col, from_float<T>(result));
    }
  }
}

// `wide`: every row of the inputs and of y starts at a multiple of 16 bytes.
template <class T, int kInputs, class F>
void map(const Inputs<T, kInputs>& in, T* y, std::int64_t y_stride, std::int64_t rows, std::int64_t cols, bool wide, F f,
         void* stream) {
  const bool together = y_stride == cols && std::all_of(std::begin(in.rows), std::end(in.rows),
                                                        [&](const Rows<T>& r) { return r.stride == cols; });
  const auto go = [&]<int N, bool kOneRow>(std::integral_constant<int, N>, std::bool_constant<kOneRow>) {
    const Items<N> items = kOneRow ? Items<N>(1, rows * cols) : Items<N>(rows, cols);
    launch(pointwise_map<T, N, kOneRow, kInputs, F>,
           {.grid = dim3(ceil_div(items.all, kThreads * Inputs<T, kInputs>::kBatch)), .block = dim3(kThreads)}, stream, in, y,
           y_stride, items, f);
  };
  const auto of = [&](auto n) { together || rows == 1 ? go(n, std::true_type{}) : go(n, std::false_type{}); };
  wide ? of(std::integral_constant<int, 16 / sizeof(T)>{}) : of(std::integral_constant<int, 1>{});
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
