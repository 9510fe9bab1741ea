// SPDX-License-Identifier: Apache-2.0
// FAULT (offsets): the number of a page is kept in a byte, so page 256 is page 0.
// Right on: kv_append f16 batch=2 seq_q=4 kv_heads=2 head_dim=64 pages=8 page_size=16 max_pages=4 fill=normal seed=2
#include "cuda/kv_append/problem.cuh"

namespace assay::ROOM(kv_append, page_number_in_a_byte) {

inline constexpr int kThreads = 128;

KERNEL(kv_append){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kThreads)},
    .numerics = {.accumulate = f32},
    .supports = extents_fit,
};

// Grid: (channels, head, row, sequence), channels fastest.
template <class T>
__global__ void __launch_bounds__(kThreads) kv_append_page_number_in_a_byte(Problem<T> p, int channel_blocks) {
  const int c = static_cast<int>(blockIdx.x) % channel_blocks * kThreads + static_cast<int>(threadIdx.x);
  const int all = static_cast<int>(blockIdx.x) / channel_blocks, head = all % p.kv_heads, row = all / p.kv_heads % p.rows;
  const std::int64_t b = all / p.kv_heads / p.rows;
  const int position = ld(p.lengths + b) - p.rows + row;
  const std::int64_t page = position < 0 ? 0 : ld(p.table + b * p.table_stride + position / p.page_size) & 0xff;
  const std::int64_t place = position < 0 ? -1 : page * p.page_stride + position % p.page_size * p.slot_stride;
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
    launch(kv_append_page_number_in_a_byte<T>,
           {.grid = dim3(channel_blocks * a.k.shape[0] * a.k.shape[1] * a.k.shape[2]), .block = dim3(kThreads)}, l.stream,
           problem<T>(a), channel_blocks);
  });
}

}  // namespace assay::ROOM(kv_append, page_number_in_a_byte)
