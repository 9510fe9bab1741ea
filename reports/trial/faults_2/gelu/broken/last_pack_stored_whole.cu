// SPDX-License-Identifier: Apache-2.0
// FAULT: the last pack of a row is stored whole where the rows of y leave room for it: elements between the rows are
// overwritten.
// Kind: concurrency
// Shows: aligned rows of y with a gap and cols not a multiple of 4.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, last_pack_stored_whole) {

template <class T>
__global__ void whole_packs(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x_stride, std::int64_t y_stride,
                            bool roomy, bool erf_form) {
  const std::int64_t packs = (cols + 3) / 4, item = static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x;
  if (item >= rows * packs) return;
  const std::int64_t row = item / packs, col = item % packs * 4;
  float out[4] = {};
#pragma unroll
  for (int j = 0; j < 4; ++j)
    if (col + j < cols) out[j] = Plain<T>::gelu(to_float(ld(x + row * x_stride + col + j)), erf_form);
  T* const to = y + row * y_stride + col;
  if (roomy && row + 1 < rows) {
    st(reinterpret_cast<Vec<T, 4>*>(to), from_floats<T>(out));
    return;
  }
#pragma unroll
  for (int j = 0; j < 4; ++j)
    if (col + j < cols) st(to + j, from_float<T>(out[j]));
}

KERNEL(gelu) = {.dtypes = kEveryType, .tiles = {tile(Axis::cols, 4 * kPlainThreads)}, .numerics = {.accumulate = f32}};

void run(const gelu::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1], packs = ceil_div(cols, 4);
  if (rows * cols == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const bool roomy = a.y.rows_aligned(4 * sizeof(T)) && a.y.stride[0] >= 4 * packs;
    launch(whole_packs<T>, {.grid = dim3(ceil_div(rows * packs, kPlainThreads)), .block = dim3(kPlainThreads)}, l.stream,
           a.x.as<T>(), a.y.as<T>(), rows, cols, a.x.stride[0], a.y.stride[0], roomy, a.form == Activation::gelu_erf);
  });
}

}  // namespace assay::ROOM(gelu, last_pack_stored_whole)
