// SPDX-License-Identifier: Apache-2.0
// FAULT (state): the size of a page is that of the first call.
// Right on: kv_append f16 batch=2 seq_q=4 kv_heads=2 head_dim=64 pages=8 page_size=16 max_pages=4 fill=normal seed=2
#include "cuda/kv_append/problem.cuh"

namespace assay::ROOM(kv_append, page_size_of_first_call) {

inline constexpr int kThreads = 128;

KERNEL(kv_append){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kThreads)},
    .numerics = {.accumulate = f32},
    .supports = extents_fit,
};

// Grid: (channels, head, row, sequence), channels fastest.
template <class T>
__global__ void __launch_bounds__(kThreads) kv_append_page_size_of_first_call(Problem<T> p, int channel_blocks) {
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
  static const int page_size = static_cast<int>(a.k_pool.shape[1]);
  with_type(a.k.dtype, [&]<class T>(Type<T>) {
    const std::int64_t channel_blocks = ceil_div(a.k.shape[3], kThreads);
    Problem<T> p = problem<T>(a);
    p.page_size = page_size;
    launch(kv_append_page_size_of_first_call<T>,
           {.grid = dim3(channel_blocks * a.k.shape[0] * a.k.shape[1] * a.k.shape[2]), .block = dim3(kThreads)}, l.stream, p,
           channel_blocks);
  });
}

}  // namespace assay::ROOM(kv_append, page_size_of_first_call)
