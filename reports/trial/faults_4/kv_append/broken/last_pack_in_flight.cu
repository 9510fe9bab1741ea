// SPDX-License-Identifier: Apache-2.0
// FAULT: copies a row through shared memory by asynchronous copies, two rounds of 32 packs in flight, and waits until one
// round is left; after the last round that is still the last round itself. A row of one round waits for all. Visible where a
// row of all heads has more than 32 packs of 16 bytes.
// KIND: concurrency
#include "cuda/kv_append/problem.cuh"

namespace assay::ROOM(kv_append, last_pack_in_flight) {

inline constexpr int kWarps = 4;

KERNEL(kv_append){
    .dtypes = {f16, bf16, f32},
    .min_arch = 80,
    .tiles = {tile(Axis::seq_q, kWarps), tile_bytes(Axis::head_dim, 16 * kWarp)},
    .numerics = {.accumulate = f32},
    .supports = extents_fit,
};

template <class T, int N>
__global__ void __launch_bounds__(kWarps* kWarp) kv_append_warp_row(Problem<T> p, std::int64_t rows) {
  const std::int64_t all = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id(), b = all / p.rows;
  if (all >= rows) return;
  const int row = static_cast<int>(all % p.rows), packs = p.dim / N;
  const std::int64_t place = p.place(b, row);
  if (place < 0) return;
  const std::int64_t first = b * p.batch_stride + row * p.row_stride;

  // Packs of all heads in turn, one per lane.
  using Pack = Vec<T, N>;
  if constexpr (N > 1) {
    // A lane has two places, of K and of V each.
    Pack* const places = shared_memory<Pack>() + linear_thread() * 4;
    const int all_packs = p.kv_heads * packs;
    const auto fetch = [&](int i) {
      const std::int64_t from = first + i / packs * p.head_stride + i % packs * N;
      cp_async<16>(places + i / kWarp % 2 * 2, reinterpret_cast<const Pack*>(p.k + from));
      cp_async<16>(places + i / kWarp % 2 * 2 + 1, reinterpret_cast<const Pack*>(p.v + from));
      cp_async_commit();
    };
    if (lane_id() < all_packs) fetch(lane_id());
    for (int i = lane_id(); i < all_packs; i += kWarp) {
      if (i + kWarp < all_packs) fetch(i + kWarp);
      if (all_packs <= kWarp) cp_async_wait<0>();
      else cp_async_wait<1>();
      const std::int64_t to = place + i / packs * p.pool_head_stride + i % packs * N;
      st(reinterpret_cast<Pack*>(p.k_pool + to), ld(places + i / kWarp % 2 * 2));
      st(reinterpret_cast<Pack*>(p.v_pool + to), ld(places + i / kWarp % 2 * 2 + 1));
    }
  } else {
    for (int i = lane_id(); i < p.kv_heads * packs; i += kWarp) {
      const std::int64_t from = first + i / packs * p.head_stride + i % packs,
                         to = place + i / packs * p.pool_head_stride + i % packs;
      st(p.k_pool + to, ld(p.k + from));
      st(p.v_pool + to, ld(p.v + from));
    }
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
  launch(kv_append_warp_row<T, N>,
         {.grid = dim3(ceil_div(rows, kWarps)), .block = dim3(kWarps * kWarp), .shared_bytes = kWarps * kWarp * 4 * 16}, l.stream,
         problem<T>(a), rows);
}

void run(const kv_append::Args& a, const Launch& l) {
  if (a.k.size() == 0) return;
  const bool aligned = a.k.rows_aligned(16) && a.v.rows_aligned(16) && a.k_pool.rows_aligned(16) && a.v_pool.rows_aligned(16);
  with_type(a.k.dtype, [&]<class T>(Type<T>) { aligned ? run_width<T, 16 / sizeof(T)>(a, l) : run_width<T, 1>(a, l); });
}

}  // namespace assay::ROOM(kv_append, last_pack_in_flight)
