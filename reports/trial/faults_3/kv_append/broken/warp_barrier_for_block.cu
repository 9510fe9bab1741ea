// SPDX-License-Identifier: Apache-2.0
// FAULT: a row goes through shared memory, and the threads of a block of four warps wait only for their own warp before they
// read it.
// Kind: concurrency
// Shows: rows of more than 256 elements.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, warp_barrier_for_block) {

template <class T>
__global__ void kv_append_staged(Problem<T> p) {
  T* const staged = shared_memory<T>();
  const int row = static_cast<int>(blockIdx.x) % p.rows, all = p.kv_heads * p.dim, threads = static_cast<int>(blockDim.x);
  const std::int64_t b = blockIdx.x / p.rows, place = p.place(b, row), from = b * p.batch_stride + row * p.row_stride;
  if (place < 0) return;
  const auto copy = [&](const T* in, T* pool) {
    for (int i = static_cast<int>(threadIdx.x); i < all; i += threads)
      st(staged + i, ld(in + from + i / p.dim * p.head_stride + i % p.dim));
    sync_warp();
    // Whole heads a warp, backwards.
    for (int i = static_cast<int>(threadIdx.x); i < all; i += threads) {
      const int at = all - 1 - i;
      st(pool + place + at / p.dim * p.pool_head_stride + at % p.dim, ld(staged + at));
    }
    sync_warp();
  };
  copy(p.k, p.k_pool);
  copy(p.v, p.v_pool);
}

Legality supports(const kv_append::Args& a) {
  if (a.k.shape[2] * a.k.shape[3] > 8192) return Legality::no("a row exceeds 8192 elements");
  return extents_fit(a);
}
KERNEL(kv_append){
    .dtypes = kEveryType, .tiles = {tile(Axis::head_dim, 128)}, .numerics = {.accumulate = f32}, .supports = supports};

void run(const kv_append::Args& a, const Launch& l) {
  if (a.k.size() == 0) return;
  const std::int64_t all = a.k.shape[2] * a.k.shape[3];
  with_type(a.k.dtype, [&]<class T>(Type<T>) {
    launch(kv_append_staged<T>,
           {.grid = dim3(a.k.shape[0] * a.k.shape[1]), .block = dim3(all <= 256 ? kWarp : 4 * kWarp),
            .shared_bytes = static_cast<std::size_t>(all) * sizeof(T)},
           l.stream, problem<T>(a));
  });
}

}  // namespace assay::ROOM(kv_append, warp_barrier_for_block)
