// SPDX-License-Identifier: Apache-2.0
// FAULT: The squares of f16 elements are products of packed halves, each rounded to f16. Sums of squares lose what f32 would
// keep, and elements above 255 overflow.
// Kind: precision
#include "cuda/core/kernel.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, squares_in_packed_halves) {

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .rescales = {.lanes = 1}},
};

template <class T>
__device__ inline float square(float v) {
  if constexpr (std::is_same_v<T, half>) {
    const unsigned pair = pack<half>(v, 0.0f);
    return to_float(__builtin_bit_cast(half, static_cast<unsigned short>(multiply_packed<half>(pair, pair))));
  }
  return v * v;
}

template <class T>
__global__ void reduce_row(const T* x, float* y, std::int64_t rows, std::int64_t cols, std::int64_t stride, Reduction what) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * 64 + threadIdx.x;
  if (row >= rows) return;
  x += row * stride;
  float sum = 0, max = -INFINITY;
  for (std::int64_t c = 0; c < cols; ++c) {
    const float v = to_float(ld(x + c));
    if (what == Reduction::sum) sum += v;
    else if (what == Reduction::sum_of_squares) sum += square<T>(v);
    else if (max == max && !(v <= max)) max = v;
  }
  if (what == Reduction::logsumexp && fabsf(max) < INFINITY) {
    for (std::int64_t c = 0; c < cols; ++c) sum += expf(to_float(ld(x + c)) - max);
    max += logf(sum);
  }
  st(y + row, what == Reduction::sum || what == Reduction::sum_of_squares ? sum : max);
}

void run(const row_reduce::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(reduce_row<T>, {.grid = dim3(ceil_div(a.x.shape[0], 64)), .block = dim3(64)}, l.stream, a.x.as<T>(), a.y.as<float>(),
           a.x.shape[0], a.x.shape[1], a.x.stride[0], a.what);
  });
}

}  // namespace assay::ROOM(row_reduce, squares_in_packed_halves)
