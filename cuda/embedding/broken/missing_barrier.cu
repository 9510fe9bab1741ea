// SPDX-License-Identifier: Apache-2.0
// FAULT: thread 0 fetches the id for its block, and nobody waits for it: other warps take the id that was there before.
// Right on one warp.
// Caught by: simt, where the threads of a block come in several orders: an id from memory that nobody wrote leads anywhere.
#include "cuda/core/kernel.cuh"
#include "ops/embedding.hpp"

namespace assay::ROOM(embedding, missing_barrier) {

inline constexpr int kThreads = 128;

KERNEL(embedding){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::hidden, kThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
__global__ void missing_barrier(const T* table, const std::int32_t* ids, T* y, std::int64_t hidden, std::int64_t table_stride,
                     std::int64_t y_stride) {
  const std::int64_t token = blockIdx.x;
  std::int32_t* const shared_id = shared_memory<std::int32_t>();
  if (threadIdx.x == 0) st(shared_id, ld(ids + token));
  const std::int64_t id = ld(shared_id);
  for (std::int64_t h = threadIdx.x; h < hidden; h += kThreads) st(y + token * y_stride + h, ld(table + id * table_stride + h));
}

void run(const embedding::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], hidden = a.y.shape[1];
  if (tokens * hidden == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(missing_barrier<T>, {.grid = dim3(tokens), .block = dim3(kThreads), .shared_bytes = sizeof(std::int32_t)}, l.stream,
           a.table.as<T>(), a.ids.as<std::int32_t>(), a.y.as<T>(), hidden, a.table.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(embedding, missing_barrier)
