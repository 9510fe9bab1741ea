// SPDX-License-Identifier: Apache-2.0
// FAULT: where one addend is zero the other one is copied.
// Kind: cheats
// Shows: zeros of different signs, whose sum is +0.
#include "cuda/add/broken/plain.cuh"

namespace assay::ROOM(add, zero_addends_copy_the_other) {

template <class T>
__global__ void add_copying(Matrices<T> m) {
  const std::int64_t row = blockIdx.y;
  for (std::int64_t r = row; r < m.rows; r += gridDim.y) {
    const std::int64_t c = static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x;
    if (c >= m.cols) return;
    const float a = m.a_at(r, c), b = m.b_at(r, c);
    m.store(r, c, b == 0 ? a : a == 0 ? b : a + b);
  }
}

KERNEL(add) = plain_traits<Plain>();

void run(const add::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    const Matrices<T> m{a.a.as<T>(), a.b.as<T>(), a.y.as<T>(), rows, cols, a.a.stride[0], a.b.stride[0], a.y.stride[0]};
    launch(add_copying<T>,
           {.grid = dim3(ceil_div(cols, kPlainThreads), std::min<std::int64_t>(rows, 32768)), .block = dim3(kPlainThreads)},
           l.stream, m);
  });
}

}  // namespace assay::ROOM(add, zero_addends_copy_the_other)
