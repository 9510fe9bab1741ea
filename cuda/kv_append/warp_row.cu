// SPDX-License-Identifier: Apache-2.0
// One warp per new row with all its heads: looks up the page once, then copies K and V in 16-byte packs, loading from both before
// storing.  Falls back to single elements where rows are not 16-byte aligned.
#include "cuda/kv_append/problem.cuh"

namespace assay::ROOM(kv_append, warp_row) {

inline constexpr int kWarps = 4;

KERNEL(kv_append){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kWarps), tile_bytes(Axis::head_dim, 16 * kWarp)},
    .numerics = {.accumulate = f32},
    .supports = extents_fit,
};

template <class T, int N>
__global__ void __launch_bounds__(kWarps* kWarp) kv_append_warp_row(Problem<T> p, std::int64_t rows) {
  next_grid_may_start();
  wait_for_previous_grid();
  const std::int64_t all = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id(), b = all / p.rows;
  if (all >= rows) return;
  const int row = static_cast<int>(all % p.rows), packs = p.dim / N;
  const std::int64_t place = p.place(b, row);
  if (place < 0) return;
  const std::int64_t first = b * p.batch_stride + row * p.row_stride;

  // Packs of all heads in turn, one per lane.
  for (int i = lane_id(); i < p.kv_heads * packs; i += kWarp) {
    const std::int64_t from = first + i / packs * p.head_stride + i % packs * N;
    const std::int64_t to = place + i / packs * p.pool_head_stride + i % packs * N;
    const auto k = ld(reinterpret_cast<const Vec<T, N>*>(p.k + from)), v = ld(reinterpret_cast<const Vec<T, N>*>(p.v + from));
    st(reinterpret_cast<Vec<T, N>*>(p.k_pool + to), k);
    st(reinterpret_cast<Vec<T, N>*>(p.v_pool + to), v);
  }
  // Less than a pack remains of each head.
  const int left = p.dim - packs * N;
  for (int i = lane_id(); i < p.kv_heads * left; i += kWarp) {
    const std::int64_t from = first + i / left * p.head_stride + packs * N + i % left;
    const std::int64_t to = place + i / left * p.pool_head_stride + packs * N + i % left;
    st(p.k_pool + to, ld(p.k + from));
    st(p.v_pool + to, ld(p.v + from));
  }
}

template <class T, int N>
void run_width(const kv_append::Args& a, const Launch& l) {
  const std::int64_t rows = a.k.shape[0] * a.k.shape[1];
  launch(kv_append_warp_row<T, N>, {.grid = dim3(ceil_div(rows, kWarps)), .block = dim3(kWarps * kWarp), .dependent = l.after},
         l.stream, problem<T>(a), rows);
}

void run(const kv_append::Args& a, const Launch& l) {
  if (a.k.size() == 0) return;
  const bool aligned = a.k.rows_aligned(16) && a.v.rows_aligned(16) && a.k_pool.rows_aligned(16) && a.v_pool.rows_aligned(16);
  with_type(a.k.dtype, [&]<class T>(Type<T>) { aligned ? run_width<T, 16 / sizeof(T)>(a, l) : run_width<T, 1>(a, l); });
}

}  // namespace assay::ROOM(kv_append, warp_row)
