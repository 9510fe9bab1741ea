// SPDX-License-Identifier: Apache-2.0
// FAULT: the sigmoid is 1 / (1 + exp(-z)), whose exponential overflows below z = -88.7 where the product with up can still be
// normal.
// Kind: ranges
// Shows: gates between -104 and -88.7, in f32 and bf16.
#include "cuda/silu_mul/broken/plain.cuh"

namespace assay::ROOM(silu_mul, exponential_overflows) {

template <class T>
__global__ void silu_mul_overflow(const T* gate, const T* up, T* y, std::int64_t rows, std::int64_t cols,
                                  std::int64_t gate_stride, std::int64_t up_stride, std::int64_t y_stride) {
  const std::int64_t row = blockIdx.y, col = static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x;
  if (col >= cols) return;
  for (std::int64_t r = row; r < rows; r += gridDim.y) {
    const float g = to_float(ld(gate + r * gate_stride + col)), u = to_float(ld(up + r * up_stride + col));
    st(y + r * y_stride + col, from_float<T>(g / (1.0f + expf(-g)) * u));
  }
}

KERNEL(silu_mul) = plain_traits<Plain>();

void run(const silu_mul::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(silu_mul_overflow<T>,
           {.grid = dim3(ceil_div(cols, kPlainThreads), std::min<std::int64_t>(rows, 1024)), .block = dim3(kPlainThreads)},
           l.stream, a.gate.as<T>(), a.up.as<T>(), a.y.as<T>(), rows, cols, a.gate.stride[0], a.up.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(silu_mul, exponential_overflows)
