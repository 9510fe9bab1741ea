// SPDX-License-Identifier: Apache-2.0
// FAULT: The columns after the last whole pack read b at the row stride of a. It shows where rows are aligned, a and b have
// different strides, and packs of 16 bytes do not divide the columns.
// Kind: layout
#include "cuda/core/kernel.cuh"
#include "ops/add.hpp"

namespace assay::ROOM(add, tail_of_b_at_stride_of_a) {

KERNEL(add){
    .dtypes = {f16, bf16, f32},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void add_packs_and_tail(const T* a, const T* b, T* y, std::int64_t cols, std::int64_t a_stride, std::int64_t b_stride, std::int64_t y_stride, bool wide) {
  constexpr int N = 16 / sizeof(T);
  using Pack = Vec<T, N>;
  const std::int64_t at_a = blockIdx.x * a_stride, at_b = blockIdx.x * b_stride, at_y = blockIdx.x * y_stride;
  const std::int64_t packs = wide ? cols / N : 0;
  for (std::int64_t p = threadIdx.x; p < packs; p += blockDim.x) {
    const Pack left = ld(reinterpret_cast<const Pack*>(a + at_a) + p), right = ld(reinterpret_cast<const Pack*>(b + at_b) + p);
    float sum[N];
    for (int j = 0; j < N; ++j) sum[j] = to_float(left[j]) + to_float(right[j]);
    st(reinterpret_cast<Pack*>(y + at_y) + p, from_floats<T>(sum));
  }
  const T* const rest = packs > 0 ? b + at_a : b + at_b;
  for (std::int64_t c = packs * N + threadIdx.x; c < cols; c += blockDim.x)
    st(y + at_y + c, from_float<T>(to_float(ld(a + at_a + c)) + to_float(ld(rest + c))));
}

void run(const add::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const bool wide = a.a.rows_aligned(16) && a.b.rows_aligned(16) && a.y.rows_aligned(16);
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(add_packs_and_tail<T>, {.grid = dim3(a.y.shape[0]), .block = dim3(64)}, l.stream, a.a.as<T>(), a.b.as<T>(),
           a.y.as<T>(), a.y.shape[1], a.a.stride[0], a.b.stride[0], a.y.stride[0], wide);
  });
}

}  // namespace assay::ROOM(add, tail_of_b_at_stride_of_a)
