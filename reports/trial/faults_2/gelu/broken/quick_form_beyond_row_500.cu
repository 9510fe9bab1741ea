// SPDX-License-Identifier: Apache-2.0
// FAULT: rows from 500 on get the quick form z sigmoid(1.702 z).
// Kind: cheats
// Shows: more than 500 rows.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, quick_form_beyond_row_500) {

template <class T>
__global__ void row_a_block(const T* x, T* y, std::int64_t cols, std::int64_t x_stride, std::int64_t y_stride, bool erf_form) {
  const std::int64_t row = blockIdx.x;
  const bool quick = row >= 500;
  for (std::int64_t c = threadIdx.x; c < cols; c += kPlainThreads) {
    const float z = to_float(ld(x + row * x_stride + c));
    st(y + row * y_stride + c, from_float<T>(quick ? times_sigmoid(z, 1.702f * z) : Plain<T>::gelu(z, erf_form)));
  }
}

KERNEL(gelu) = {.dtypes = kEveryType,
                .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
                .numerics = {.accumulate = f32}};

void run(const gelu::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows * cols == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(row_a_block<T>, {.grid = dim3(rows), .block = dim3(kPlainThreads)}, l.stream, a.x.as<T>(), a.y.as<T>(), cols,
           a.x.stride[0], a.y.stride[0], a.form == Activation::gelu_erf);
  });
}

}  // namespace assay::ROOM(gelu, quick_form_beyond_row_500)
