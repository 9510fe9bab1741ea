// SPDX-License-Identifier: Apache-2.0
// FAULT: rows of y are taken to start at multiples of 16 bytes if its first row does and rows of x do.
// KIND: offsets
// Right on: softmax f16 rows=64 cols=256 fill=normal seed=1
// Wrong on: softmax f16 rows=8 cols=20 layout=mixed fill=normal seed=7
#include "cuda/softmax/row.cuh"

namespace assay::ROOM(softmax, start_of_second_row_of_y_unchecked) {

inline constexpr int kRows = 4;  // warps per block
inline constexpr std::int64_t kMostCols = 64 * kWarp;

Legality supports(const softmax::Args& a) {
  if (a.x.shape[1] > kMostCols) return Legality::no("a row exceeds 2048 columns, the most that a warp keeps in registers");
  return Legality::yes();
}

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kRows), tile(Axis::cols, 8 * kWarp)},
    // Groups of 8 are summed pairwise (3), then in sequence, 256 columns per step of the warp; tail (1), butterfly (5).
    .numerics = {.accumulate = f32, .chain = {.lanes = 8 * kWarp, .extra = 3 + 1 + 5}, .flushes_subnormals = true},
    .supports = supports,
};

template <class T, int N, int V>
__global__ void __launch_bounds__(kRows* kWarp) softmax_start_of_second_row_of_y_unchecked(Matrices<T> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows + warp_id();
  if (row >= m.rows) return;
  held<Nothing::is_nan, N, V>(m.row(row), Warp{});
}

template <class T, int N, int V>
void run_held(const Matrices<T>& m, const Launch& l) {
  launch(softmax_start_of_second_row_of_y_unchecked<T, N, V>,
         {.grid = dim3(ceil_div(m.rows, kRows)), .block = dim3(kRows * kWarp)}, l.stream, m);
}

template <class T, int N>
void run_width(const Matrices<T>& m, const Launch& l) {
  if (m.cols <= 8 * kWarp) return run_held<T, N, 8>(m, l);
  if (m.cols <= 16 * kWarp) return run_held<T, N, 16>(m, l);
  if (m.cols <= 32 * kWarp) return run_held<T, N, 32>(m, l);
  return run_held<T, N, 64>(m, l);
}

void run(const softmax::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    a.x.rows_aligned(kAccess) && reinterpret_cast<std::uintptr_t>(a.y.data) % kAccess == 0
        ? run_width<T, kPerAccess<T>>(matrices<T>(a), l)
        : run_width<T, 1>(matrices<T>(a), l);
  });
}

}  // namespace assay::ROOM(softmax, start_of_second_row_of_y_unchecked)
