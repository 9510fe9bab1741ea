// SPDX-License-Identifier: Apache-2.0
// FAULT: the matrices are taken as one long row if their strides agree, also where there is a gap between rows. Two elements a
// thread.
// Kind: layout
// Shows: three matrices with the same gap between their rows.
#include "cuda/add/broken/plain.cuh"

namespace assay::ROOM(add, flat_if_strides_agree) {

template <class T>
__global__ void two_a_thread(Matrices<T> m) {
  const std::int64_t all = m.rows * m.cols;
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x) * 2;
#pragma unroll
  for (int j = 0; j < 2; ++j)
    if (first + j < all) Plain<T>::element(m, (first + j) / m.cols, (first + j) % m.cols);
}

KERNEL(add) = {.dtypes = kEveryType, .tiles = {tile(Axis::cols, 2 * kPlainThreads)}, .numerics = {.accumulate = f32}};

void run(const add::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    Matrices<T> m{a.a.as<T>(), a.b.as<T>(), a.y.as<T>(), rows, cols, a.a.stride[0], a.b.stride[0], a.y.stride[0]};
    if (m.a_stride == m.b_stride && m.b_stride == m.y_stride) m.cols = rows * cols, m.rows = 1;
    launch(two_a_thread<T>, {.grid = dim3(ceil_div(rows * cols, 2 * kPlainThreads)), .block = dim3(kPlainThreads)}, l.stream, m);
  });
}

}  // namespace assay::ROOM(add, flat_if_strides_agree)
