// SPDX-License-Identifier: Apache-2.0
// FAULT: the copy is a fused multiply-add, v * 1 + 0, left from a scaled cache: -0 becomes +0.
// KIND: ranges
// Right on: kv_append f16 batch=2 seq_q=4 pages=16 page_size=16 max_pages=4 kv_heads=2 head_dim=64 fill=normal seed=1
// Wrong on: kv_append f16 batch=2 seq_q=4 pages=16 page_size=16 max_pages=4 kv_heads=2 head_dim=64 fill=signed_zeros seed=1
#include "cuda/kv_append/problem.cuh"

namespace assay::ROOM(kv_append, negative_zero_lost) {

inline constexpr int kThreads = 128;

KERNEL(kv_append){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kThreads)},
    .numerics = {.accumulate = f32},
    .supports = extents_fit,
};

// Grid: (channels, head, row, sequence), channels fastest.
template <class T>
__global__ void __launch_bounds__(kThreads) kv_append_negative_zero_lost(Problem<T> p, int channel_blocks) {
  const int c = static_cast<int>(blockIdx.x) % channel_blocks * kThreads + static_cast<int>(threadIdx.x);
  const int all = static_cast<int>(blockIdx.x) / channel_blocks, head = all % p.kv_heads, row = all / p.kv_heads % p.rows;
  const std::int64_t b = all / p.kv_heads / p.rows;
  const std::int64_t place = p.place(b, row);
  if (c >= p.dim || place < 0) return;
  const std::int64_t from = b * p.batch_stride + row * p.row_stride + head * p.head_stride + c;
  const std::int64_t to = place + head * p.pool_head_stride + c;
  st(p.k_pool + to, ld(p.k + from));
  st(p.v_pool + to, from_float<T>(fmaf(to_float(ld(p.v + from)), 1.0f, 0.0f)));
}

void run(const kv_append::Args& a, const Launch& l) {
  if (a.k.size() == 0) return;
  with_type(a.k.dtype, [&]<class T>(Type<T>) {
    const std::int64_t channel_blocks = ceil_div(a.k.shape[3], kThreads);
    launch(kv_append_negative_zero_lost<T>,
           {.grid = dim3(channel_blocks * a.k.shape[0] * a.k.shape[1] * a.k.shape[2]), .block = dim3(kThreads)}, l.stream,
           problem<T>(a), channel_blocks);
  });
}

}  // namespace assay::ROOM(kv_append, negative_zero_lost)
