// SPDX-License-Identifier: Apache-2.0
// A thread takes 8 bytes of a row at once where all three rows happen to lie at multiples of 8 bytes there, else its elements one
// by one; so does the rest of a row.
#include "cuda/core/kernel.cuh"
#include "ops/add.hpp"

namespace assay::ROOM(add, pairs_of_words) {

inline constexpr int kThreads = 128;

KERNEL(add){.dtypes = {f16, bf16, f32}, .tiles = {tile_bytes(Axis::cols, kThreads * 8)}, .numerics = {.accumulate = f32}};

template <class T>
__device__ inline bool on_word(const T* p) {
  return reinterpret_cast<std::uintptr_t>(p) % 8 == 0;
}

template <class T>
__global__ void add_pairs_of_words(const T* a, const T* b, T* y, std::int64_t rows, std::int64_t cols, std::int64_t groups,
                                   std::int64_t a_stride, std::int64_t b_stride, std::int64_t y_stride) {
  constexpr int N = 8 / sizeof(T);
  using Pack = Vec<T, N>;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= rows * groups) return;
  const std::int64_t row = i / groups, col = i % groups * N;
  a += row * a_stride + col, b += row * b_stride + col, y += row * y_stride + col;
  const int left = cols - col < N ? static_cast<int>(cols - col) : N;
  if (left == N && on_word(a) && on_word(b) && on_word(y)) {
    const Pack from_a = ld(reinterpret_cast<const Pack*>(a)), from_b = ld(reinterpret_cast<const Pack*>(b));
    float sum[N];
#pragma unroll
    for (int j = 0; j < N; ++j) sum[j] = to_float(from_a[j]) + to_float(from_b[j]);
    st(reinterpret_cast<Pack*>(y), from_floats<T>(sum));
  } else {
    for (int j = 0; j < left; ++j) st(y + j, from_float<T>(to_float(ld(a + j)) + to_float(ld(b + j))));
  }
}

void run(const add::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    const std::int64_t groups = ceil_div(cols, 8 / static_cast<std::int64_t>(sizeof(T)));
    launch(add_pairs_of_words<T>, {.grid = dim3(ceil_div(rows * groups, kThreads)), .block = dim3(kThreads)}, l.stream,
           a.a.as<T>(), a.b.as<T>(), a.y.as<T>(), rows, cols, groups, a.a.stride[0], a.b.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(add, pairs_of_words)
