// SPDX-License-Identifier: Apache-2.0
// FAULT: 16-bit elements are read in pairs, and the last of an odd row with whatever follows it, which is not used.
// Kind: memory
// Caught by: out_of_bounds, with rows=1 cols=1 (f16).
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, pair_read_past_odd_row) {

KERNEL(gelu) = plain_traits<Plain>();

template <class T>
__global__ void gelu_pairs(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x_stride, std::int64_t y_stride,
                           bool erf_form) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x, across = (cols + 1) / 2;
  if (i >= rows * across) return;
  const std::int64_t row = i / across, col = i % across * 2;
  const auto pair = ld(reinterpret_cast<const Vec<T, 2>*>(x + row * x_stride + col));
  for (int j = 0; j < 2 && col + j < cols; ++j)
    st(y + row * y_stride + col + j, from_float<T>(Plain<T>::gelu(to_float(pair[j]), erf_form)));
}

void run(const gelu::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (a.x.dtype == f32 || !a.x.rows_aligned(4) || rows * cols == 0) return run_plain<Plain>(a, l);
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(gelu_pairs<T>, {.grid = dim3(ceil_div(rows * ((cols + 1) / 2), kPlainThreads)), .block = dim3(kPlainThreads)},
           l.stream, a.x.as<T>(), a.y.as<T>(), rows, cols, a.x.stride[0], a.y.stride[0], a.form == Activation::gelu_erf);
  });
}

}  // namespace assay::ROOM(gelu, pair_read_past_odd_row)
