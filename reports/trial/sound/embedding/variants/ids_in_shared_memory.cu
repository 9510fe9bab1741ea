// SPDX-License-Identifier: Apache-2.0
// A block takes 48 tokens: it reads their ids into shared memory, then its threads walk over all elements of the 48 rows.
#include "cuda/core/kernel.cuh"
#include "ops/embedding.hpp"

namespace assay::ROOM(embedding, ids_in_shared_memory) {

inline constexpr int kThreads = 160, kTokens = 48;

KERNEL(embedding){.dtypes = {f16, bf16, f32},
                  .tiles = {tile(Axis::tokens, kTokens), tile(Axis::hidden, kThreads)},
                  .numerics = {.accumulate = f32}};

template <class T>
__global__ void embedding_ids_in_shared_memory(const T* table, const std::int32_t* ids, T* y, std::int64_t tokens,
                                               std::int64_t hidden, std::int64_t table_stride, std::int64_t y_stride) {
  std::int32_t* const mine = shared_memory<std::int32_t>();
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kTokens;
  const std::int64_t count = tokens - first < kTokens ? tokens - first : kTokens;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) st(mine + i, ld(ids + first + i));
  sync_block();
  for (std::int64_t i = threadIdx.x; i < count * hidden; i += kThreads) {
    const std::int64_t token = i / hidden, h = i - token * hidden;
    st(y + (first + token) * y_stride + h, ld(table + static_cast<std::int64_t>(ld(mine + token)) * table_stride + h));
  }
}

void run(const embedding::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], hidden = a.y.shape[1];
  if (tokens * hidden == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(embedding_ids_in_shared_memory<T>,
           {.grid = dim3(ceil_div(tokens, kTokens)), .block = dim3(kThreads), .shared_bytes = kTokens * sizeof(std::int32_t)},
           l.stream, a.table.as<T>(), a.ids.as<std::int32_t>(), a.y.as<T>(), tokens, hidden, a.table.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(embedding, ids_in_shared_memory)
