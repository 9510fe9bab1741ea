// SPDX-License-Identifier: Apache-2.0
// FAULT: aligned rows are gone through in packs of four, and the elements left are counted as if all rows were one: (rows *
// cols) % 4 in place of rows * (cols % 4).
// Kind: offsets
// Shows: aligned rows with a gap, cols not a multiple of 4 and several rows.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, tails_counted_flat) {

template <class T>
__global__ void packs_of_four(const T* x, T* y, std::int64_t packs_a_row, std::int64_t packs, std::int64_t left_a_row,
                              std::int64_t all, std::int64_t x_stride, std::int64_t y_stride, bool erf_form) {
  const std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x;
  if (item >= all) return;
  if (item < packs) {
    const std::int64_t row = item / packs_a_row, col = item % packs_a_row * 4;
    const auto v = ld(reinterpret_cast<const Vec<T, 4>*>(x + row * x_stride + col));
    float out[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) out[j] = Plain<T>::gelu(to_float(v[j]), erf_form);
    st(reinterpret_cast<Vec<T, 4>*>(y + row * y_stride + col), from_floats<T>(out));
    return;
  }
  const std::int64_t row = (item - packs) / left_a_row, col = packs_a_row * 4 + (item - packs) % left_a_row;
  st(y + row * y_stride + col, from_float<T>(Plain<T>::gelu(to_float(ld(x + row * x_stride + col)), erf_form)));
}

KERNEL(gelu) = {.dtypes = kEveryType, .tiles = {tile(Axis::cols, 4 * kPlainThreads)}, .numerics = {.accumulate = f32}};

void run(const gelu::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows * cols == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    if (!a.x.rows_aligned(4 * sizeof(T)) || !a.y.rows_aligned(4 * sizeof(T))) return run_plain<Plain>(a, l);
    const std::int64_t packs_a_row = cols / 4, packs = rows * packs_a_row, left = rows * cols % 4;
    const std::int64_t all = packs + (rows == 1 ? cols % 4 : left);
    if (all == 0) return;
    launch(packs_of_four<T>, {.grid = dim3(ceil_div(all, kPlainThreads)), .block = dim3(kPlainThreads)}, l.stream, a.x.as<T>(),
           a.y.as<T>(), packs_a_row, packs, std::max<std::int64_t>(1, cols % 4), all, a.x.stride[0], a.y.stride[0],
           a.form == Activation::gelu_erf);
  });
}

}  // namespace assay::ROOM(gelu, tails_counted_flat)
