// SPDX-License-Identifier: Apache-2.0
// FAULT: a warp copies all heads of a row as one run, if the heads of K and V follow each other without a gap; whether those of
// the pools do is not asked.
// Kind: layout
// Shows: pools with a gap after each head, while those of k have none, and kv_heads > 1.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, heads_merged_by_source) {

inline constexpr int kWarps = 4;

template <class T>
__global__ void rows_by_warps(Problem<T> p, std::int64_t rows, bool merged) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (at >= rows) return;
  const std::int64_t b = at / p.rows;
  const int row = static_cast<int>(at % p.rows);
  const std::int64_t to = p.place(b, row), from = b * p.batch_stride + row * p.row_stride;
  if (to < 0) return;
  if (merged) {
    const int all = p.kv_heads * p.dim;
    for (int c = lane_id(); c < all; c += kWarp) {
      st(p.k_pool + to + c, ld(p.k + from + c));
      st(p.v_pool + to + c, ld(p.v + from + c));
    }
    return;
  }
  for (int head = 0; head < p.kv_heads; ++head)
    for (int c = lane_id(); c < p.dim; c += kWarp) {
      st(p.k_pool + to + head * p.pool_head_stride + c, ld(p.k + from + head * p.head_stride + c));
      st(p.v_pool + to + head * p.pool_head_stride + c, ld(p.v + from + head * p.head_stride + c));
    }
}

KERNEL(kv_append) = {
    .dtypes = kEveryType, .tiles = {tile(Axis::head_dim, kWarp)}, .numerics = {.accumulate = f32}, .supports = extents_fit};

void run(const kv_append::Args& a, const Launch& l) {
  if (a.k.size() == 0) return;
  with_type(a.k.dtype, [&]<class T>(Type<T>) {
    const std::int64_t rows = a.k.shape[0] * a.k.shape[1];
    launch(rows_by_warps<T>, {.grid = dim3(ceil_div(rows, kWarps)), .block = dim3(kWarps * kWarp)}, l.stream, problem<T>(a), rows,
           a.k.stride[2] == a.k.shape[3]);
  });
}

}  // namespace assay::ROOM(kv_append, heads_merged_by_source)
