// SPDX-License-Identifier: Apache-2.0
// FAULT: guards against ids out of range with one comparison too strict, id + 1 < vocab, and gives zeros there. Visible for
// the last row of the table.
// KIND: algorithm
#include "cuda/core/kernel.cuh"
#include "ops/embedding.hpp"

namespace assay::ROOM(embedding, last_id_out_of_range) {

inline constexpr int kThreads = 256;

KERNEL(embedding){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::hidden, kThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
__global__ void embedding_naive(const T* table, const std::int32_t* ids, T* y, std::int64_t tokens, std::int64_t hidden,
                                std::int64_t table_stride, std::int64_t y_stride, std::int64_t vocab) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= tokens * hidden) return;
  const std::int64_t token = i / hidden, h = i % hidden;
  const std::int32_t id = ld(ids + token);
  st(y + token * y_stride + h, id >= 0 && id + 1 < vocab ? ld(table + id * table_stride + h) : from_float<T>(0.0f));
}

void run(const embedding::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], hidden = a.y.shape[1];
  if (tokens * hidden == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(embedding_naive<T>, {.grid = dim3(ceil_div(tokens * hidden, kThreads)), .block = dim3(kThreads)}, l.stream,
           a.table.as<T>(), a.ids.as<std::int32_t>(), a.y.as<T>(), tokens, hidden, a.table.stride[0], a.y.stride[0],
           a.table.shape[0]);
  });
}

}  // namespace assay::ROOM(embedding, last_id_out_of_range)
