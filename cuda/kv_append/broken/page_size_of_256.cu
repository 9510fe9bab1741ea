// SPDX-License-Identifier: Apache-2.0
// FAULT: pages are taken to have 256 slots.
// Caught by: the comparison or a stray write with any other page size, where a position is beyond the first page.
#include "cuda/kv_append/problem.cuh"

namespace assay::ROOM(kv_append, page_size_of_256) {

inline constexpr int kThreads = 128;

KERNEL(kv_append){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kThreads)},
    .numerics = {.accumulate = f32},
    .supports = extents_fit,
};

// Block (channels, head, row, sequence), the channels fastest.
template <class T>
__global__ void __launch_bounds__(kThreads) kv_append_page_size_of_256(Problem<T> p, int channel_blocks) {
  const int c = static_cast<int>(blockIdx.x) % channel_blocks * kThreads + static_cast<int>(threadIdx.x);
  const int all = static_cast<int>(blockIdx.x) / channel_blocks, head = all % p.kv_heads, row = all / p.kv_heads % p.rows;
  const std::int64_t b = all / p.kv_heads / p.rows;
  const int position = ld(p.lengths + b) - p.rows + row;
  if (position < 0) return;
  const std::int64_t page = ld(p.table + b * p.table_stride + position / 256);
  const std::int64_t place = page * p.page_stride + position % 256 % p.page_size * p.slot_stride;
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
    launch(kv_append_page_size_of_256<T>,
           {.grid = dim3(channel_blocks * a.k.shape[0] * a.k.shape[1] * a.k.shape[2]), .block = dim3(kThreads)}, l.stream,
           problem<T>(a), channel_blocks);
  });
}

}  // namespace assay::ROOM(kv_append, page_size_of_256)
