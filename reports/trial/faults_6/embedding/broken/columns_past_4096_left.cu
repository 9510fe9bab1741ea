// SPDX-License-Identifier: Apache-2.0
// FAULT (algorithm): the columns from 4096 on are not copied.
// Right on: embedding f16 tokens=32 hidden=64 vocab=64 fill=normal seed=2
#include "cuda/core/kernel.cuh"
#include "ops/embedding.hpp"

namespace assay::ROOM(embedding, columns_past_4096_left) {

inline constexpr int kThreads = 256;

KERNEL(embedding){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::hidden, kThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
__global__ void embedding_columns_past_4096_left(const T* table, const std::int32_t* ids, T* y, std::int64_t tokens,
                                                 std::int64_t hidden, std::int64_t table_stride, std::int64_t y_stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= tokens * hidden) return;
  const std::int64_t token = i / hidden, h = i % hidden;
  if (h >= 4096) return;
  st(y + token * y_stride + h, ld(table + ld(ids + token) * table_stride + h));
}

void run(const embedding::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], hidden = a.y.shape[1];
  if (tokens * hidden == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(embedding_columns_past_4096_left<T>, {.grid = dim3(ceil_div(tokens * hidden, kThreads)), .block = dim3(kThreads)},
           l.stream, a.table.as<T>(), a.ids.as<std::int32_t>(), a.y.as<T>(), tokens, hidden, a.table.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(embedding, columns_past_4096_left)
