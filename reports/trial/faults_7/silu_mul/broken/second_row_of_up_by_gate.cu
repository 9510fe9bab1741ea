// SPDX-License-Identifier: Apache-2.0
// FAULT: The kernel takes two rows a block and steps from the first row of up to the second by the stride of gate. Odd rows are
// wrong where gate and up have different row strides.
// Kind: layout
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/silu_mul.hpp"

namespace assay::ROOM(silu_mul, second_row_of_up_by_gate) {

KERNEL(silu_mul){
    .dtypes = {f16, bf16, f32},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void silu_mul_two_rows(const T* gate, const T* up, T* y, std::int64_t rows, std::int64_t cols, std::int64_t gate_stride, std::int64_t up_stride, std::int64_t y_stride) {
  const std::int64_t row = 2 * static_cast<std::int64_t>(blockIdx.x);
  const T* g = gate + row * gate_stride;
  const T* u = up + row * up_stride;
  T* out = y + row * y_stride;
  const int here = row + 1 < rows ? 2 : 1;
  for (int i = 0; i < here; ++i, g += gate_stride, u += gate_stride, out += y_stride)
    for (std::int64_t c = threadIdx.x; c < cols; c += blockDim.x)
      st(out + c, from_float<T>(silu(to_float(ld(g + c))) * to_float(ld(u + c))));
}

void run(const silu_mul::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(silu_mul_two_rows<T>, {.grid = dim3(ceil_div(a.y.shape[0], 2)), .block = dim3(128)}, l.stream, a.gate.as<T>(),
           a.up.as<T>(), a.y.as<T>(), a.y.shape[0], a.y.shape[1], a.gate.stride[0], a.up.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(silu_mul, second_row_of_up_by_gate)
