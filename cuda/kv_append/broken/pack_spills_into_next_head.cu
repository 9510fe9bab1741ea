// SPDX-License-Identifier: Apache-2.0
// FAULT: channels go in packs of eight, written whole: where head_dim is no multiple, zeros go into the head after, or the slot
// after.
// Kind: memory
// Caught by: out_of_bounds, with batch=1 seq_q=1 pages=1 page_size=1 max_pages=1 kv_heads=1 head_dim=1 (f16).
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, pack_spills_into_next_head) {

constexpr int kPack = 8;

KERNEL(kv_append) = plain_traits<Plain>();

template <class T>
__global__ void append_packs(Problem<T> p, int packs, std::int64_t all) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x;
  if (i >= all) return;
  const int first = static_cast<int>(i % packs) * kPack, head = static_cast<int>(i / packs % p.kv_heads);
  const int row = static_cast<int>(i / packs / p.kv_heads % p.rows);
  const std::int64_t b = i / packs / p.kv_heads / p.rows, place = p.place(b, row);
  if (place < 0) return;
  const std::int64_t from = b * p.batch_stride + row * p.row_stride + head * p.head_stride + first;
  const std::int64_t to = place + head * p.pool_head_stride + first;
  for (int j = 0; j < kPack; ++j) {
    st(p.k_pool + to + j, first + j < p.dim ? ld(p.k + from + j) : from_float<T>(0.0f));
    st(p.v_pool + to + j, first + j < p.dim ? ld(p.v + from + j) : from_float<T>(0.0f));
  }
}

void run(const kv_append::Args& a, const Launch& l) {
  if (a.k.size() == 0) return;
  with_type(a.k.dtype, [&]<class T>(Type<T>) {
    const std::int64_t packs = ceil_div(a.k.shape[3], kPack), all = a.k.shape[0] * a.k.shape[1] * a.k.shape[2] * packs;
    launch(append_packs<T>, {.grid = dim3(ceil_div(all, kPlainThreads)), .block = dim3(kPlainThreads)}, l.stream, problem<T>(a),
           packs, all);
  });
}

}  // namespace assay::ROOM(kv_append, pack_spills_into_next_head)
