// SPDX-License-Identifier: Apache-2.0
// FAULT: one thread adds up a row, one addition after the other, but the chain of a warp is declared.
// Kind: precision
// Shows: f32 sums of thousands of columns whose rounding errors have one sign.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, thread_a_row_declared_as_warp) {

template <class Fold, class T>
__device__ void serial(const T* x, float* y, std::int64_t cols, std::int64_t row) {
  Fold f;
  for (std::int64_t c = 0; c < cols; ++c) {
    const float v[1] = {to_float(ld(x + c))};
    f.add(v);
  }
  st(y + row, f.result());
}

template <class T>
__global__ void row_a_thread(const T* x, float* y, std::int64_t rows, std::int64_t cols, std::int64_t stride, Reduction what) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x;
  if (row >= rows) return;
  x += row * stride;
  if (what == Reduction::sum) serial<fold::Sum>(x, y, cols, row);
  else if (what == Reduction::max) serial<fold::Max>(x, y, cols, row);
  else if (what == Reduction::logsumexp) serial<fold::LogSumExp>(x, y, cols, row);
  else serial<fold::SumOfSquares>(x, y, cols, row);
}

KERNEL(row_reduce) = {.dtypes = kEveryType,
                      .tiles = {tile(Axis::rows, kPlainThreads)},
                      .numerics = {.accumulate = f32,
                                   .chain = {.lanes = kWarp, .extra = 5},
                                   .rescales = {.lanes = kWarp, .extra = 5}}};

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(row_a_thread<T>, {.grid = dim3(ceil_div(rows, kPlainThreads)), .block = dim3(kPlainThreads)}, l.stream, a.x.as<T>(),
           a.y.as<float>(), rows, a.x.shape[1], a.x.stride[0], a.what);
  });
}

}  // namespace assay::ROOM(row_reduce, thread_a_row_declared_as_warp)
