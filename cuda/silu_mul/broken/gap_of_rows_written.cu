// SPDX-License-Identifier: Apache-2.0
// FAULT: where the rows of y are far enough apart, the last pack of a row is written whole, zeros into the gap; the last row is
// right.
// Kind: memory
// Caught by: wrote between the rows of 'y', with layout=padded (f16).
#include "cuda/silu_mul/broken/plain.cuh"

namespace assay::ROOM(silu_mul, gap_of_rows_written) {

KERNEL(silu_mul) = plain_traits<Plain>();

template <class T>
__global__ void silu_mul_fours(const T* gate, const T* up, T* y, std::int64_t rows, std::int64_t cols, std::int64_t gate_stride,
                               std::int64_t up_stride, std::int64_t y_stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x, across = (cols + 3) / 4;
  if (i >= rows * across) return;
  const std::int64_t row = i / across;
  const bool room = y_stride >= across * 4 && row + 1 < rows;
  for (std::int64_t c = i % across * 4, end = c + 4; c < end && (room || c < cols); ++c) {
    const float g = c < cols ? to_float(ld(gate + row * gate_stride + c)) : 0.0f;
    const float u = c < cols ? to_float(ld(up + row * up_stride + c)) : 0.0f;
    st(y + row * y_stride + c, from_float<T>(silu(g) * u));
  }
}

void run(const silu_mul::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(silu_mul_fours<T>, {.grid = dim3(ceil_div(rows * ((cols + 3) / 4), kPlainThreads)), .block = dim3(kPlainThreads)},
           l.stream, a.gate.as<T>(), a.up.as<T>(), a.y.as<T>(), rows, cols, a.gate.stride[0], a.up.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(silu_mul, gap_of_rows_written)
