// SPDX-License-Identifier: Apache-2.0
// FAULT: rows are read in packs of 16 bytes to their end, where the last pack reaches into what follows the row; only its
// valid part is stored.
// Kind: concurrency
// Shows: hidden that is no whole number of packs, and rows aligned with padding, or the last row of the table.
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, last_pack_read_whole) {

inline constexpr int kThreads = 64;

template <class T, int N>
__global__ void embedding_whole_packs(Rows<T> m) {
  const std::int64_t token = blockIdx.x, id = ld(m.ids + token);
  const auto* const from = reinterpret_cast<const Vec<T, N>*>(m.table + id * m.table_stride);
  T* const to = m.y + token * m.y_stride;
  for (std::int64_t p = threadIdx.x; p * N < m.hidden; p += kThreads) {
    const Vec<T, N> v = ld(from + p);
#pragma unroll
    for (int j = 0; j < N; ++j)
      if (p * N + j < m.hidden) st(to + p * N + j, v[j]);
  }
}

KERNEL(embedding){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile_bytes(Axis::hidden, kThreads * 16)},
    .numerics = {.accumulate = f32},
};

void run(const embedding::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    const Rows<T> m{a.table.as<T>(), a.ids.as<std::int32_t>(), a.y.as<T>(), a.y.shape[1], a.table.stride[0], a.y.stride[0]};
    launch(a.table.rows_aligned(16) ? embedding_whole_packs<T, 16 / sizeof(T)> : embedding_whole_packs<T, 1>,
           {.grid = dim3(a.y.shape[0]), .block = dim3(kThreads)}, l.stream, m);
  });
}

}  // namespace assay::ROOM(embedding, last_pack_read_whole)
