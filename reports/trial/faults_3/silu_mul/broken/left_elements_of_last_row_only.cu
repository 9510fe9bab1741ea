// SPDX-License-Identifier: Apache-2.0
// FAULT: rows are taken in packs, and the elements after the last whole pack are computed for the last row only.
// Kind: offsets
// Shows: more than one row of columns that a pack of 8 or 4 does not divide.
#include "cuda/silu_mul/broken/plain.cuh"

namespace assay::ROOM(silu_mul, left_elements_of_last_row_only) {

template <class T, int N>
__global__ void silu_mul_row_packs(const T* gate, const T* up, T* y, std::int64_t rows, std::int64_t cols,
                                   std::int64_t gate_stride, std::int64_t up_stride, std::int64_t y_stride) {
  const std::int64_t packs = cols / N, i = static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x;
  const auto one = [&](std::int64_t row, std::int64_t c) {
    const float g = to_float(ld(gate + row * gate_stride + c)), u = to_float(ld(up + row * up_stride + c));
    st(y + row * y_stride + c, from_float<T>(silu(g) * u));
  };
  if (i < rows * packs) {
    for (int j = 0; j < N; ++j) one(i / packs, i % packs * N + j);
  } else if (packs * N + i - rows * packs < cols) {
    one(rows - 1, packs * N + i - rows * packs);
  }
}

KERNEL(silu_mul) = plain_traits<Plain>();

void run(const silu_mul::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    constexpr int N = 16 / sizeof(T);
    launch(silu_mul_row_packs<T, N>,
           {.grid = dim3(ceil_div(rows * (cols / N) + cols % N, kPlainThreads)), .block = dim3(kPlainThreads)}, l.stream,
           a.gate.as<T>(), a.up.as<T>(), a.y.as<T>(), rows, cols, a.gate.stride[0], a.up.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(silu_mul, left_elements_of_last_row_only)
