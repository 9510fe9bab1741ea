// SPDX-License-Identifier: Apache-2.0
// FAULT: loads aligned packs from the multiple of 16 bytes at or before the row on, and multiplies elements before the row and
// behind it by 0 to leave them out. Such loads never leave the 16 bytes of an element of the row. Visible where a row that is
// not aligned has a neighbour that is NaN or inf: its result becomes NaN.
// KIND: offsets
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, neighbours_times_zero) {

inline constexpr int kWarps = 4;

// The maxima, which need no packs of their own here, go element by element.
KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kWarps), tile_bytes(Axis::cols, 16 * kWarp)},
    // A lane adds the packs of its share, at most two more than a 32nd of the row's; 5 joins.
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 24}},
    .supports =
        [](const row_reduce::Args& a) {
          return a.x.shape[1] <= std::int64_t{kWarp} << 22 ? Legality::yes()
                                                           : Legality::no("a lane's share exceeds 2^22 columns");
        },
};

template <class T>
__global__ void __launch_bounds__(kWarps* kWarp)
    row_reduce_aligned_down(const T* x, float* y, std::int64_t rows, std::int64_t cols, std::int64_t stride, Reduction what) {
  constexpr int N = 16 / static_cast<int>(sizeof(T));
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (row >= rows) return;
  x += row * stride;
  if (what == Reduction::sum || what == Reduction::sum_of_squares) {
    const int before = static_cast<int>(reinterpret_cast<std::uintptr_t>(x) % 16 / sizeof(T));
    const auto* const packs = reinterpret_cast<const Vec<T, N>*>(x - before);
    float sum = 0;
    for (std::int64_t p = lane_id(); p * N < cols + before && cols > 0; p += kWarp) {
      const Vec<T, N> pack = ld(packs + p);
#pragma unroll
      for (int j = 0; j < N; ++j) {
        const std::int64_t c = p * N + j - before;
        const float v = to_float(pack[j]) * (c >= 0 && c < cols ? 1.0f : 0.0f);
        sum = what == Reduction::sum ? sum + v : fmaf(v, v, sum);
      }
    }
    sum = warp_sum(sum);
    if (lane_id() == 0) st(y + row, sum);
    return;
  }
  float max = -INFINITY;
  bool nan = false;
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) {
    const float v = to_float(ld(x + c));
    max = fmaxf(max, v), nan = nan || v != v;
  }
  max = any(nan) ? NAN : warp_max(max);
  if (what == Reduction::logsumexp && fabsf(max) < INFINITY) {
    float sum = 0;
    for (std::int64_t c = lane_id(); c < cols; c += kWarp) sum += expf(to_float(ld(x + c)) - max);
    max += logf(warp_sum(sum));
  }
  if (lane_id() == 0) st(y + row, max);
}

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(row_reduce_aligned_down<T>, {.grid = dim3(ceil_div(rows, kWarps)), .block = dim3(kWarps * kWarp)}, l.stream,
           a.x.as<T>(), a.y.as<float>(), rows, a.x.shape[1], a.x.stride[0], a.what);
  });
}

}  // namespace assay::ROOM(row_reduce, neighbours_times_zero)
