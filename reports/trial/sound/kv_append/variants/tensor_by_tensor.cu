// SPDX-License-Identifier: Apache-2.0
// One launch for the keys and one for the values, each with strides of its own; a new row a warp, its heads and channels as one
// list, grids of at most 64 blocks that walk on.
#include "cuda/core/kernel.cuh"
#include "ops/kv_append.hpp"

namespace assay::ROOM(kv_append, tensor_by_tensor) {

inline constexpr int kWarps = 4;
inline constexpr std::int64_t kMostBlocks = 64;

KERNEL(kv_append){.dtypes = {f16, bf16, f32}, .tiles = {tile(Axis::seq_q, kWarps)}, .numerics = {.accumulate = f32}};

template <class T>
struct Copy {
  const T* from;  // [batch, rows, heads, dim]
  T* pool;        // [pages, page_size, heads, dim]
  const std::int32_t *table, *lengths;
  std::int64_t batches, rows, heads, dim, page_size, table_stride, from_batch, from_row, from_head, page, slot, pool_head;
};

template <class T>
__global__ void kv_append_tensor_by_tensor(Copy<T> m) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kWarps, all = m.batches * m.rows;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id(); i < all; i += step) {
    const std::int64_t b = i / m.rows, row = i % m.rows;
    const std::int64_t position = static_cast<std::int64_t>(ld(m.lengths + b)) - m.rows + row;
    if (position < 0) continue;
    const std::int64_t page = ld(m.table + b * m.table_stride + position / m.page_size);
    const T* const from = m.from + b * m.from_batch + row * m.from_row;
    T* const to = m.pool + page * m.page + position % m.page_size * m.slot;
    for (std::int64_t e = lane_id(); e < m.heads * m.dim; e += kWarp) {
      const std::int64_t head = e / m.dim, c = e % m.dim;
      st(to + head * m.pool_head + c, ld(from + head * m.from_head + c));
    }
  }
}

template <class T>
void copy(const kv_append::Args& a, const Tensor& from, const Tensor& pool, const Launch& l) {
  const Copy<T> m{from.as<T>(),   pool.as<T>(),   a.page_table.as<std::int32_t>(), a.lengths.as<std::int32_t>(), from.shape[0],
                  from.shape[1],  from.shape[2],  from.shape[3],                   pool.shape[1],                a.page_table.stride[0],
                  from.stride[0], from.stride[1], from.stride[2],                  pool.stride[0],               pool.stride[1],
                  pool.stride[2]};
  launch(kv_append_tensor_by_tensor<T>,
         {.grid = dim3(std::min(ceil_div(m.batches * m.rows, kWarps), kMostBlocks)), .block = dim3(kWarps * kWarp)}, l.stream, m);
}

void run(const kv_append::Args& a, const Launch& l) {
  if (a.k.size() == 0) return;
  with_type(a.k.dtype, [&]<class T>(Type<T>) {
    copy<T>(a, a.k, a.k_pool, l);
    copy<T>(a, a.v, a.v_pool, l);
  });
}

}  // namespace assay::ROOM(kv_append, tensor_by_tensor)
