// SPDX-License-Identifier: Apache-2.0
// FAULT: the heads of a slot are taken to follow each other without gaps if those of the new rows do.
// Kind: layout
// Shows: pools with padded heads and new rows without.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, heads_of_pool_packed) {

template <class T>
__global__ void kv_append_packed_heads(Problem<T> p, bool packed) {
  const int row = static_cast<int>(blockIdx.x) % p.rows;
  const std::int64_t b = blockIdx.x / p.rows, place = p.place(b, row), from = b * p.batch_stride + row * p.row_stride;
  if (place < 0) return;
  for (int i = static_cast<int>(threadIdx.x); i < p.kv_heads * p.dim; i += kPlainThreads) {
    const int head = i / p.dim, c = i % p.dim;
    const std::int64_t in = packed ? i : head * p.head_stride + c, to = packed ? i : head * p.pool_head_stride + c;
    st(p.k_pool + place + to, ld(p.k + from + in));
    st(p.v_pool + place + to, ld(p.v + from + in));
  }
}

KERNEL(kv_append) = plain_traits<Plain>();

void run(const kv_append::Args& a, const Launch& l) {
  if (a.k.size() == 0) return;
  with_type(a.k.dtype, [&]<class T>(Type<T>) {
    launch(kv_append_packed_heads<T>, {.grid = dim3(a.k.shape[0] * a.k.shape[1]), .block = dim3(kPlainThreads)}, l.stream,
           problem<T>(a), a.k.stride[2] == a.k.shape[3]);
  });
}

}  // namespace assay::ROOM(kv_append, heads_of_pool_packed)
