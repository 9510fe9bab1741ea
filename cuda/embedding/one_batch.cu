// SPDX-License-Identifier: Apache-2.0
// One block per token: all 16-byte packs of the row are in flight at once, four per thread, so that a block lives for the id's
// latency and the row's.  Rows beyond 16 KiB take several batches.  Falls back to single elements where rows are not 16-byte
// aligned.
#include "cuda/core/row_pack.cuh"
#include "ops/embedding.hpp"

namespace assay::ROOM(embedding, one_batch) {

inline constexpr int kMostThreads = 256, kBatch = 4;

KERNEL(embedding){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile_bytes(Axis::hidden, 16 * kWarp)},  // what one warp takes at once
    .numerics = {.accumulate = f32},
};

template <class T, int N>
__global__ void __launch_bounds__(kMostThreads, 8)
    embedding_one_batch(const T* table, const std::int32_t* ids, T* y, std::int64_t hidden, std::int64_t table_stride,
                        std::int64_t y_stride) {
  using Pack = row_pack::Raw<T, N>;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const T* const from = table + ld(ids + blockIdx.x) * table_stride;
  T* const to = y + blockIdx.x * y_stride;
  const std::int64_t packs = hidden / N;
  // Less than a pack remains after the whole ones: one element per thread.  Note: copied first, else its place takes registers.
  if (const std::int64_t h = packs * N + thread; h < hidden) st(to + h, ld(from + h));
  const Pack* x = reinterpret_cast<const Pack*>(from) + thread;
  Pack* out = reinterpret_cast<Pack*>(to) + thread;
#pragma unroll 1
  for (std::int64_t left = packs - thread; left > 0; left -= kBatch * threads, x += kBatch * threads, out += kBatch * threads) {
    Pack v[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; ++k)
      if (k * threads < left) v[k] = ld(x + k * threads);
#pragma unroll
    for (int k = 0; k < kBatch; ++k)
      if (k * threads < left) st(out + k * threads, v[k]);
  }
}

template <class T, int N>
void run_width(const embedding::Args& a, const Launch& l) {
  const std::int64_t warps = std::clamp<std::int64_t>(ceil_div(a.y.shape[1] / N, kBatch * kWarp), 1, kMostThreads / kWarp);
  launch(embedding_one_batch<T, N>, {.grid = dim3(a.y.shape[0]), .block = dim3(kWarp * warps)}, l.stream, a.table.as<T>(),
         a.ids.as<std::int32_t>(), a.y.as<T>(), a.y.shape[1], a.table.stride[0], a.y.stride[0]);
}

void run(const embedding::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    a.table.rows_aligned(16) && a.y.rows_aligned(16) ? run_width<T, 16 / sizeof(T)>(a, l) : run_width<T, 1>(a, l);
  });
}

}  // namespace assay::ROOM(embedding, one_batch)
