// SPDX-License-Identifier: Apache-2.0
// Sums and sums of squares only: the row in sixteen parts, a warp each, which add their sums to y by atomic additions, in
// whatever
// order they come; a launch before clears y.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, atomic_additions) {

inline constexpr std::int64_t kParts = 16;
inline constexpr int kThreads = 64;

Legality supports(const row_reduce::Args& a) {
  if (a.what != Reduction::sum && a.what != Reduction::sum_of_squares) return Legality::no("only sums are supported");
  return a.x.shape[0] >= std::int64_t{1} << 27 ? Legality::no("more parts than a grid has blocks") : Legality::yes();
}
// 16 parts of 32 lanes; five additions in a warp, fifteen from part to part.
KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .deterministic = false,
    .tiles = {tile(Axis::cols, kParts * kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kParts * kWarp, .extra = 5 + 15}, .flushes_storage = true},
    .supports = supports,
};

__global__ void row_reduce_clear(float* y, std::int64_t rows) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (row < rows) st(y + row, 0.0f);
}

template <class T>
__global__ void row_reduce_atomic_additions(const T* x, float* y, std::int64_t cols, std::int64_t stride, bool squares) {
  const std::int64_t row = blockIdx.x / kParts, part = blockIdx.x % kParts;
  x += row * stride;
  float sum = 0;
  for (std::int64_t c = part * kWarp + lane_id(); c < cols; c += kParts * kWarp) {
    const float v = to_float(ld(x + c));
    sum = squares ? fmaf(v, v, sum) : sum + v;
  }
  sum = warp_sum(sum);
  if (lane_id() == 0) atomic_add(y + row, sum);
}

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  launch(row_reduce_clear, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)}, l.stream, a.y.as<float>(), rows);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(row_reduce_atomic_additions<T>, {.grid = dim3(rows * kParts), .block = dim3(kWarp)}, l.stream, a.x.as<T>(),
           a.y.as<float>(), a.x.shape[1], a.x.stride[0], a.what == Reduction::sum_of_squares);
  });
}

}  // namespace assay::ROOM(row_reduce, atomic_additions)
