// SPDX-License-Identifier: Apache-2.0
// One warp per token: its lanes share one read of the id, then copy the row in 16-byte packs, four in flight per lane.  Falls
// back to single elements where rows are not 16-byte aligned.
#include "cuda/core/row_pack.cuh"
#include "ops/embedding.hpp"

namespace assay::ROOM(embedding, warp_row) {

inline constexpr int kWarps = 4, kBatch = 4;

KERNEL(embedding){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kWarps), tile_bytes(Axis::hidden, 16 * kWarp)},
    .numerics = {.accumulate = f32},
};

template <class T, int N>
__global__ void __launch_bounds__(kWarps* kWarp, 16)
    embedding_warp_row(const T* table, const std::int32_t* ids, T* y, std::int64_t tokens, std::int64_t hidden,
                       std::int64_t table_stride, std::int64_t y_stride) {
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (token >= tokens) return;
  const T* const from = table + ld(ids + token) * table_stride;
  T* const to = y + token * y_stride;
  const std::int64_t packs = hidden / N;
  // Less than a pack remains after the whole ones: one element per lane.  Note: copied first, else its place takes registers.
  if (const std::int64_t h = packs * N + lane_id(); h < hidden) st(to + h, ld(from + h));
  using Pack = row_pack::Raw<T, N>;
  const Pack* x = reinterpret_cast<const Pack*>(from) + lane_id();
  Pack* out = reinterpret_cast<Pack*>(to) + lane_id();
#pragma unroll 1
  for (std::int64_t left = packs - lane_id(); left > 0; left -= kBatch * kWarp, x += kBatch * kWarp, out += kBatch * kWarp) {
    Pack v[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; ++k)
      if (k * kWarp < left) v[k] = ld(x + k * kWarp);
#pragma unroll
    for (int k = 0; k < kBatch; ++k)
      if (k * kWarp < left) st(out + k * kWarp, v[k]);
  }
}

template <class T, int N>
void run_width(const embedding::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0];
  launch(embedding_warp_row<T, N>, {.grid = dim3(ceil_div(tokens, kWarps)), .block = dim3(kWarps * kWarp)}, l.stream,
         a.table.as<T>(), a.ids.as<std::int32_t>(), a.y.as<T>(), tokens, a.y.shape[1], a.table.stride[0], a.y.stride[0]);
}

void run(const embedding::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    a.table.rows_aligned(16) && a.y.rows_aligned(16) ? run_width<T, 16 / sizeof(T)>(a, l) : run_width<T, 1>(a, l);
  });
}

}  // namespace assay::ROOM(embedding, warp_row)
