// SPDX-License-Identifier: Apache-2.0
// FAULT: a page of the pool is taken to begin where the slots of the page before end.
// KIND: layout
// Right on: kv_append f16 batch=2 seq_q=4 pages=16 page_size=16 max_pages=4 kv_heads=2 head_dim=64 fill=normal seed=1
// Wrong on: kv_append f16 batch=2 seq_q=3 pages=8 page_size=4 max_pages=3 kv_heads=2 head_dim=16 layout=twins fill=normal seed=1
#include "cuda/core/kernel.cuh"
#include "ops/kv_append.hpp"
namespace assay::ROOM(kv_append, pages_follow_each_other) {

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
    return (page * page_size + position % page_size) * slot_stride;
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

inline constexpr int kThreads = 128;

KERNEL(kv_append){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kThreads)},
    .numerics = {.accumulate = f32},
    .supports = extents_fit,
};

// Grid: (channels, head, row, sequence), channels fastest.
template <class T>
__global__ void __launch_bounds__(kThreads) kv_append_pages_follow_each_other(Problem<T> p, int channel_blocks) {
  const int c = static_cast<int>(blockIdx.x) % channel_blocks * kThreads + static_cast<int>(threadIdx.x);
  const int all = static_cast<int>(blockIdx.x) / channel_blocks, head = all % p.kv_heads, row = all / p.kv_heads % p.rows;
  const std::int64_t b = all / p.kv_heads / p.rows;
  const std::int64_t place = p.place(b, row);
  if (c >= p.dim || place < 0) return;
  const std::int64_t from = b * p.batch_stride + row * p.row_stride + head * p.head_stride + c;
  const std::int64_t to = place + head * p.pool_head_stride + c;
  st(p.k_pool + to, ld(p.k + from));
  st(p.v_pool + to, ld(p.v + from));
}

void run(const kv_append::Args& a, const Launch& l) {
  if (a.k.size() == 0) return;
  with_type(a.k.dtype, [&]<class T>(Type<T>) {
    const std::int64_t channel_blocks = ceil_div(a.k.shape[3], kThreads);
    launch(kv_append_pages_follow_each_other<T>,
           {.grid = dim3(channel_blocks * a.k.shape[0] * a.k.shape[1] * a.k.shape[2]), .block = dim3(kThreads)}, l.stream,
           problem<T>(a), channel_blocks);
  });
}

}  // namespace assay::ROOM(kv_append, pages_follow_each_other)
