// SPDX-License-Identifier: Apache-2.0
// FAULT: the sums of a row's parts are added by atomics, in whatever order the blocks come: other bits at every run.
// Caught by: two runs that must agree bit for bit, for rows of several parts; the bound does not see it.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, atomic_partials) {

inline constexpr int kThreads = 128;
inline constexpr std::int64_t kPart = 256;

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kPart)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 12}},
    .supports =
        [](const row_reduce::Args& a) {
          return a.what == Reduction::sum || a.what == Reduction::sum_of_squares ? Legality::yes() : Legality::no("sums only");
        },
};

__global__ void atomic_partials_zero(float* y, std::int64_t rows) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (row < rows) st(y + row, 0.0f);
}

template <class T>
__global__ void atomic_partials(const T* x, float* y, std::int64_t parts, std::int64_t cols, std::int64_t stride, bool squares) {
  const std::int64_t row = blockIdx.x / parts, first = blockIdx.x % parts * kPart;
  const std::int64_t end = first + kPart < cols ? first + kPart : cols;
  float sum = 0;
  for (std::int64_t c = first + threadIdx.x; c < end; c += kThreads) {
    const float v = to_float(ld(x + row * stride + c));
    sum += squares ? v * v : v;
  }
  sum = block_sum(sum, shared_memory<float>());
  if (threadIdx.x == 0) atomic_add(y + row, sum);
}

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1], parts = ceil_div(cols, kPart);
  if (rows == 0) return;
  launch(atomic_partials_zero, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)}, l.stream, a.y.as<float>(),
         rows);
  if (cols == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(atomic_partials<T>, {.grid = dim3(rows * parts), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(float)},
           l.stream, a.x.as<T>(), a.y.as<float>(), parts, cols, a.x.stride[0], a.what == Reduction::sum_of_squares);
  });
}

}  // namespace assay::ROOM(row_reduce, atomic_partials)
