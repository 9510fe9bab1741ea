// SPDX-License-Identifier: Apache-2.0
// FAULT: a sequence with fewer positions than new rows gets its first rows instead of its last ones.
// Kind: combinations
// Shows: lengths below seq_q with at least one position.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, short_sequence_takes_first_rows) {

template <class T>
__global__ void kv_append_first_rows(Problem<T> p) {
  const int row = static_cast<int>(blockIdx.x) % p.rows;
  const std::int64_t b = blockIdx.x / p.rows;
  const int length = ld(p.lengths + b), start = length - p.rows > 0 ? length - p.rows : 0, position = start + row;
  if (position >= length) return;
  const std::int64_t page = ld(p.table + b * p.table_stride + position / p.page_size);
  const std::int64_t to = page * p.page_stride + position % p.page_size * p.slot_stride;
  const std::int64_t from = b * p.batch_stride + row * p.row_stride;
  for (int i = static_cast<int>(threadIdx.x); i < p.kv_heads * p.dim; i += kPlainThreads) {
    const std::int64_t in = from + i / p.dim * p.head_stride + i % p.dim, out = to + i / p.dim * p.pool_head_stride + i % p.dim;
    st(p.k_pool + out, ld(p.k + in));
    st(p.v_pool + out, ld(p.v + in));
  }
}

KERNEL(kv_append) = plain_traits<Plain>();

void run(const kv_append::Args& a, const Launch& l) {
  if (a.k.size() == 0) return;
  with_type(a.k.dtype, [&]<class T>(Type<T>) {
    launch(kv_append_first_rows<T>, {.grid = dim3(a.k.shape[0] * a.k.shape[1]), .block = dim3(kPlainThreads)}, l.stream,
           problem<T>(a));
  });
}

}  // namespace assay::ROOM(kv_append, short_sequence_takes_first_rows)
