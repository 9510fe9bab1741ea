// SPDX-License-Identifier: Apache-2.0
// FAULT (output): a sequence whose last new key lies in its slot when the call begins is taken for appended, values and
// earlier rows with it.
// Right on: kv_append f16 batch=2 seq_q=4 kv_heads=2 head_dim=64 pages=8 page_size=16 max_pages=4 fill=normal seed=2
#include "cuda/kv_append/problem.cuh"

namespace assay::ROOM(kv_append, sequence_left_if_last_key_is_there) {

inline constexpr int kThreads = 128;

KERNEL(kv_append){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kThreads)},
    .numerics = {.accumulate = f32},
    .supports = extents_fit,
    .workspace_bytes = [](const kv_append::Args& a) { return static_cast<std::size_t>(a.k.shape[0] * 4); },
};

// Grid: (channels, head, row, sequence), channels fastest.
template <class T>
__global__ void __launch_bounds__(kThreads)
    kv_append_sequence_left_if_last_key_is_there(Problem<T> p, int channel_blocks, const unsigned* done) {
  const int c = static_cast<int>(blockIdx.x) % channel_blocks * kThreads + static_cast<int>(threadIdx.x);
  const int all = static_cast<int>(blockIdx.x) / channel_blocks, head = all % p.kv_heads, row = all / p.kv_heads % p.rows;
  const std::int64_t b = all / p.kv_heads / p.rows;
  const std::int64_t place = p.place(b, row);
  if (c >= p.dim || place < 0 || ld(done + b) != 0) return;
  const std::int64_t from = b * p.batch_stride + row * p.row_stride + head * p.head_stride + c;
  const std::int64_t to = place + head * p.pool_head_stride + c;
  st(p.k_pool + to, ld(p.k + from));
  st(p.v_pool + to, ld(p.v + from));
}

// 1 for the sequences whose last key is there.
template <class T>
__global__ void kv_append_there(Problem<T> p, unsigned* done) {
  const std::int64_t b = blockIdx.x, place = p.place(b, p.rows - 1);
  unsigned all = place < 0 ? 0 : 1;
  for (int h = 0; h < p.kv_heads && all; ++h)
    for (int c = 0; c < p.dim && all; ++c)
      if (to_float(ld(p.k_pool + place + h * p.pool_head_stride + c)) !=
          to_float(ld(p.k + b * p.batch_stride + (p.rows - 1) * p.row_stride + h * p.head_stride + c)))
        all = 0;
  st(done + b, all);
}

void run(const kv_append::Args& a, const Launch& l) {
  if (a.k.size() == 0) return;
  with_type(a.k.dtype, [&]<class T>(Type<T>) {
    const std::int64_t channel_blocks = ceil_div(a.k.shape[3], kThreads);
    unsigned* const done = static_cast<unsigned*>(l.workspace);
    launch(kv_append_there<T>, {.grid = dim3(a.k.shape[0]), .block = dim3(1)}, l.stream, problem<T>(a), done);
    launch(kv_append_sequence_left_if_last_key_is_there<T>,
           {.grid = dim3(channel_blocks * a.k.shape[0] * a.k.shape[1] * a.k.shape[2]), .block = dim3(kThreads)}, l.stream,
           problem<T>(a), channel_blocks, static_cast<const unsigned*>(done));
  });
}

}  // namespace assay::ROOM(kv_append, sequence_left_if_last_key_is_there)
