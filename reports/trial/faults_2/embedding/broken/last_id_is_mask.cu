// SPDX-License-Identifier: Apache-2.0
// FAULT: where vocab is a power of two, the last class is taken for the padding token, which has a row of zeros. A warp copies
// a row.
// Kind: algorithm
// Shows: an id of vocab - 1 in a vocabulary of 2, 4, 8, ... classes.
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, last_id_is_mask) {

template <class T>
__global__ void rows_by_warps(Rows<T> m, std::int64_t tokens, std::int64_t vocab) {
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * (kPlainThreads / kWarp) + warp_id();
  if (token >= tokens) return;
  const std::int64_t id = ld(m.ids + token);
  const T* const from = m.table + id * m.table_stride;
  T* const to = m.y + token * m.y_stride;
  if (id == vocab - 1 && vocab > 1 && (vocab & (vocab - 1)) == 0) {
    for (std::int64_t h = lane_id(); h < m.hidden; h += kWarp) st(to + h, from_float<T>(0.0f));
    return;
  }
  for (std::int64_t h = lane_id(); h < m.hidden; h += kWarp) st(to + h, ld(from + h));
}

KERNEL(embedding) = {.dtypes = kEveryType,
                     .tiles = {tile(Axis::tokens, kPlainThreads / kWarp), tile(Axis::hidden, kWarp)},
                     .numerics = {.accumulate = f32}};

void run(const embedding::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], hidden = a.y.shape[1];
  if (tokens * hidden == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    const Rows<T> m{a.table.as<T>(), a.ids.as<std::int32_t>(), a.y.as<T>(), hidden, a.table.stride[0], a.y.stride[0]};
    launch(rows_by_warps<T>, {.grid = dim3(ceil_div(tokens, kPlainThreads / kWarp)), .block = dim3(kPlainThreads)}, l.stream, m,
           tokens, a.table.shape[0]);
  });
}

}  // namespace assay::ROOM(embedding, last_id_is_mask)
