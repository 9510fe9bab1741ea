// SPDX-License-Identifier: Apache-2.0
// Element-wise steps over matrices with any number of columns, for unfused kernels.  A thread has several packs of 16 bytes in
// flight.  It goes element by element if rows do not start at multiples of 16 bytes.
#pragma once

#include "cuda/core/row_pack.cuh"

namespace assay::ASSAY_FLAVOUR::pointwise {

inline constexpr int kThreads = 256;

template <class T>
struct Rows {
  const T* data;
  std::int64_t stride;  // elements; 0: every row is the first one
};

// The inputs of f: kInputs matrices of one shape.
template <class T, int kInputs>
struct Inputs {
  static constexpr int kBatch = kInputs == 1 ? 4 : 2;  // packs of each in flight; more than 64 bytes a thread lower occupancy
  Rows<T> rows[kInputs];
};

// The items of work: first the whole packs of N columns of all rows, then the single elements left at the ends of rows.
template <int N>
struct Items {
  std::int64_t packs_a_row, packs, left_a_row, all;
  Items(std::int64_t rows, std::int64_t cols)
      : packs_a_row(cols / N), packs(rows * packs_a_row), left_a_row(cols % N), all(packs + rows * left_a_row) {}
};
struct Place {
  std::int64_t row, col;
};
// Row and column of an item, with `a_row` items a row.  Note: a 64-bit division costs as much as a load, so 32-bit if possible.
__device__ inline Place place_of(std::int64_t item, std::int64_t a_row) {
  const bool narrow = item <= 0xffffffffll && a_row <= 0xffffffffll;
  const std::int64_t row = narrow ? static_cast<std::uint32_t>(item) / static_cast<std::uint32_t>(a_row) : item / a_row;
  return {row, item - row * a_row};
}

// y = f(a) or f(a, b), element by element in f32.
template <class T, int N, bool kOneRow, int kInputs, class F>
__global__ void __launch_bounds__(kThreads)
    pointwise_map(Inputs<T, kInputs> in, T* y, std::int64_t y_stride, Items<N> items, F f) {
  next_grid_may_start();
  wait_for_previous_grid();
  constexpr int kBatch = Inputs<T, kInputs>::kBatch;
  using Pack = row_pack::Raw<T, N>;
  const auto apply = [&](auto&& input) {
    if constexpr (kInputs == 1) return f(input(0));
    else return f(input(0), input(1));
  };
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
      float z[kInputs][N], result[N];
#pragma unroll
      for (int k = 0; k < kInputs; ++k) row_pack::to_floats<T, N>(z[k], v[k][i]);
#pragma unroll
      for (int j = 0; j < N; ++j) result[j] = apply([&](int k) { return z[k][j]; });
      st(reinterpret_cast<Vec<T, N>*>(y + at[i].row * y_stride + at[i].col * N), from_floats<T>(result));
    } else if (N > 1 && item < items.all) {
      const Place left = place_of(item - items.packs, items.left_a_row);
      const std::int64_t col = items.packs_a_row * N + left.col;
      const float result = apply([&](int k) { return to_float(ld(in.rows[k].data + left.row * in.rows[k].stride + col)); });
      st(y + left.row * y_stride + col, from_float<T>(result));
    }
  }
}

// Launches pointwise_map.  Matrices without gaps between rows are taken as one long row.  Packs are used if every row starts at a
// multiple of 16 bytes.
template <class T, int kInputs, class F>
void map(const Inputs<T, kInputs>& in, T* y, std::int64_t y_stride, std::int64_t rows, std::int64_t cols, F f, void* stream,
         bool after = false) {
  const auto all = [&](auto&& holds) {
    return holds(Rows<T>{y, y_stride}) && std::all_of(std::begin(in.rows), std::end(in.rows), holds);
  };
  const bool one = rows == 1 || all([&](const Rows<T>& m) { return m.stride == cols; });
  const bool wide = all([&](const Rows<T>& m) {
    const auto first = reinterpret_cast<std::uintptr_t>(m.data), second = reinterpret_cast<std::uintptr_t>(m.data + m.stride);
    return first % 16 == 0 && (one || second % 16 == 0);
  });
  const auto go = [&]<int N, bool kOneRow>(std::integral_constant<int, N>, std::bool_constant<kOneRow>) {
    const Items<N> items = kOneRow ? Items<N>(1, rows * cols) : Items<N>(rows, cols);
    launch(
        pointwise_map<T, N, kOneRow, kInputs, F>,
        {.grid = dim3(ceil_div(items.all, kThreads * Inputs<T, kInputs>::kBatch)), .block = dim3(kThreads), .dependent = after},
        stream, in, y, y_stride, items, f);
  };
  const auto of = [&](auto n) { one ? go(n, std::true_type{}) : go(n, std::false_type{}); };
  wide ? of(std::integral_constant<int, 16 / sizeof(T)>{}) : of(std::integral_constant<int, 1>{});
}

template <class T, class F>
void unary(Rows<T> a, T* y, std::int64_t y_stride, std::int64_t rows, std::int64_t cols, F f, void* stream) {
  map<T, 1>({{a}}, y, y_stride, rows, cols, f, stream);
}
template <class T, class F>
void binary(Rows<T> a, Rows<T> b, T* y, std::int64_t y_stride, std::int64_t rows, std::int64_t cols, F f, void* stream,
            bool after = false) {
  map<T, 2>({{a, b}}, y, y_stride, rows, cols, f, stream, after);
}

}  // namespace assay::ASSAY_FLAVOUR::pointwise
