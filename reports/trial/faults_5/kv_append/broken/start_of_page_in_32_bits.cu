// SPDX-License-Identifier: Apache-2.0
// FAULT: the start of a page in the pool is an unsigned 32-bit product.
// KIND: offsets
// Right on: kv_append f16 batch=2 seq_q=4 pages=16 page_size=16 max_pages=4 kv_heads=2 head_dim=64 fill=normal seed=1
// Wrong on: kv_append f16 batch=2 seq_q=3 pages=8 page_size=4 max_pages=3 kv_heads=1 head_dim=16 layout=far fill=normal seed=1
#include "cuda/core/kernel.cuh"
#include "ops/kv_append.hpp"
namespace assay::ROOM(kv_append, start_of_page_in_32_bits) {

// Strides in elements, channels contiguous.
template <class T>
struct Problem {
  const T *k, *v;             // [batch, seq_q, kv_heads, head_dim], equal strides
  T *k_pool, *v_pool;         // [pages, page_size, kv_heads, head_dim], equal strides
  const std::int32_t* table;  // [batch, max_pages]
  const std::int32_t* lengths;
  std::int64_t table_stride, batch_stride, row_stride, head_stride;  // of k and v
  std::int64_t page_stride, slot_stride, pool_head_stride;
  int rows, kv_heads, dim, page_size;  // rows: new rows per sequence

  // Offset of the first head of new row i of sequence b in a pool; negative: the row is skipped.
  __device__ std::int64_t place(std::int64_t b, int i) const {
    const int position = ld(lengths + b) - rows + i;
    if (position < 0) return -1;
    const std::int64_t page = ld(table + b * table_stride + position / page_size);
    return static_cast<unsigned>(page) * static_cast<unsigned>(page_stride) + position % page_size * slot_stride;
  }
};

inline Legality extents_fit(const kv_append::Args& a) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  for (const std::int64_t extent : {a.k.shape[1], a.k.shape[2] * a.k.shape[3], a.k_pool.shape[1]})
    if (extent > kMost) return Legality::no("an extent exceeds 2^30");
  if (a.page_table.shape[1] > kMost / a.k_pool.shape[1]) return Legality::no("a table has room for more than 2^30 positions");
  if (a.k.stride != a.v.stride || a.k_pool.stride != a.v_pool.stride) return Legality::no("K and V are laid out differently");
  return Legality::yes();
}

template <class T>
Problem<T> problem(const kv_append::Args& a) {
  return {.k = a.k.as<T>(),
          .v = a.v.as<T>(),
          .k_pool = a.k_pool.as<T>(),
          .v_pool = a.v_pool.as<T>(),
          .table = a.page_table.as<std::int32_t>(),
          .lengths = a.lengths.as<std::int32_t>(),
          .table_stride = a.page_table.stride[0],
          .batch_stride = a.k.stride[0],
          .row_stride = a.k.stride[1],
          .head_stride = a.k.stride[2],
          .page_stride = a.k_pool.stride[0],
          .slot_stride = a.k_pool.stride[1],
          .pool_head_stride = a.k_pool.stride[2],
          .rows = static_cast<int>(a.k.shape[1]),
          .kv_heads = static_cast<int>(a.k.shape[2]),
          .dim = static_cast<int>(a.k.shape[3]),
          .page_size = static_cast<int>(a.k_pool.shape[1])};
}

inline constexpr int kWarps = 4;

KERNEL(kv_append){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kWarps), tile_bytes(Axis::head_dim, 16 * kWarp)},
    .numerics = {.accumulate = f32},
    .supports = extents_fit,
};

template <class T, int N>
__global__ void __launch_bounds__(kWarps* kWarp) kv_append_start_of_page_in_32_bits(Problem<T> p, std::int64_t rows) {
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
  launch(kv_append_start_of_page_in_32_bits<T, N>, {.grid = dim3(ceil_div(rows, kWarps)), .block = dim3(kWarps * kWarp)},
         l.stream, problem<T>(a), rows);
}

void run(const kv_append::Args& a, const Launch& l) {
  if (a.k.size() == 0) return;
  const bool aligned = a.k.rows_aligned(16) && a.v.rows_aligned(16) && a.k_pool.rows_aligned(16) && a.v_pool.rows_aligned(16);
  with_type(a.k.dtype, [&]<class T>(Type<T>) { aligned ? run_width<T, 16 / sizeof(T)>(a, l) : run_width<T, 1>(a, l); });
}

}  // namespace assay::ROOM(kv_append, start_of_page_in_32_bits)
