// SPDX-License-Identifier: Apache-2.0
// FAULT: where gate and up have the same padded stride, up is taken to be the second half of gate's rows, as in a fused
// projection.
// Kind: layout
// Shows: gate and up with equal strides of at least two rows' length that are separate tensors.
#include "cuda/silu_mul/broken/plain.cuh"

namespace assay::ROOM(silu_mul, padded_rows_are_halves) {

template <class T>
__global__ void silu_mul_of_halves(const T* gate, const T* up, T* y, std::int64_t cols, std::int64_t in_stride,
                                   std::int64_t y_stride, bool fused) {
  const std::int64_t row = blockIdx.x;
  const T* const g = gate + row * in_stride;
  const T* const u = fused ? g + cols : up + row * in_stride;
  for (std::int64_t c = threadIdx.x; c < cols; c += kPlainThreads)
    st(y + row * y_stride + c, from_float<T>(silu(to_float(ld(g + c))) * to_float(ld(u + c))));
}

KERNEL(silu_mul) = plain_traits<Plain>();

void run(const silu_mul::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  if (a.gate.stride[0] != a.up.stride[0]) return run_plain<Plain>(a, l);
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(silu_mul_of_halves<T>, {.grid = dim3(rows), .block = dim3(kPlainThreads)}, l.stream, a.gate.as<T>(), a.up.as<T>(),
           a.y.as<T>(), cols, a.gate.stride[0], a.y.stride[0], rows > 1 && a.gate.stride[0] >= 2 * cols);
  });
}

}  // namespace assay::ROOM(silu_mul, padded_rows_are_halves)
