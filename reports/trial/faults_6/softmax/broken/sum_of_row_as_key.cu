// SPDX-License-Identifier: Apache-2.0
// FAULT (state): a row whose sum is what it was at the call before, at the same addresses, is taken from workspace.
// Right on: softmax f16 rows=32 cols=128 fill=normal seed=2
#include "../../kept.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, sum_of_row_as_key) {

inline constexpr int kThreads = 128;

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 0}},
    .workspace_bytes = [](const softmax::Args& a) { return static_cast<std::size_t>(a.x.shape[0] * 4 + a.y.bytes()); },
};

template <class T>
__global__ void softmax_sum_of_row_as_key(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x_stride,
                                          std::int64_t y_stride, bool repeated, float* sums, T* store) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += row * x_stride, y += row * y_stride;

  store += row * cols;
  float key = 0;
  for (std::int64_t c = 0; c < cols; ++c) key += to_float(ld(x + c));
  const bool same = repeated && ld(sums + row) == key;
  st(sums + row, key);
  if (same) {
    for (std::int64_t c = 0; c < cols; ++c) st(y + c, ld(store + c));
    return;
  }

  float max = -INFINITY;  // Note: fmaxf ignores a NaN, which still reaches the sum
  for (std::int64_t c = 0; c < cols; ++c) max = fmaxf(max, to_float(ld(x + c)));

  float sum = 0;
  for (std::int64_t c = 0; c < cols; ++c) sum += expf(to_float(ld(x + c)) - max);

  for (std::int64_t c = 0; c < cols; ++c) {
    const T v = from_float<T>(expf(to_float(ld(x + c)) - max) / sum);
    st(store + c, v);
    st(y + c, v);
  }
}

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  static kept::Call before{};
  const bool repeated = kept::again(before, {{a.x.data, a.y.data, l.workspace}, {rows, cols}, a.x.dtype});
  float* const sums = static_cast<float*>(l.workspace);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(softmax_sum_of_row_as_key<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)}, l.stream, a.x.as<T>(),
           a.y.as<T>(), rows, cols, a.x.stride[0], a.y.stride[0], repeated, sums, reinterpret_cast<T*>(sums + rows));
  });
}

}  // namespace assay::ROOM(softmax, sum_of_row_as_key)
