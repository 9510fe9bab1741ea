// SPDX-License-Identifier: Apache-2.0
// FAULT: the offset of a row of up is computed in 32 bits; those of gate and y in 64.
// Kind: offsets
// Shows: up with rows so far apart that row x stride reaches 2^31.
#include "cuda/silu_mul/broken/plain.cuh"

namespace assay::ROOM(silu_mul, up_offset_of_32_bits) {

template <class T>
__global__ void silu_mul_by_row(const T* gate, const T* up, T* y, int cols, std::int64_t gate_stride, int up_stride,
                                std::int64_t y_stride) {
  const int row = static_cast<int>(blockIdx.x);
  const int of_up = static_cast<int>(static_cast<unsigned>(row) * static_cast<unsigned>(up_stride));
  for (int c = static_cast<int>(threadIdx.x); c < cols; c += kPlainThreads) {
    const float g = to_float(ld(gate + row * gate_stride + c)), u = to_float(ld(up + of_up + c));
    st(y + row * y_stride + c, from_float<T>(silu(g) * u));
  }
}

KERNEL(silu_mul) = plain_traits<Plain>();

void run(const silu_mul::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(silu_mul_by_row<T>, {.grid = dim3(rows), .block = dim3(kPlainThreads)}, l.stream, a.gate.as<T>(), a.up.as<T>(),
           a.y.as<T>(), static_cast<int>(cols), a.gate.stride[0], static_cast<int>(a.up.stride[0]), a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(silu_mul, up_offset_of_32_bits)
