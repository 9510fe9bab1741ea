// SPDX-License-Identifier: Apache-2.0
// FAULT: copies a row as an embedding bag of one row does: it adds the row to zeros. Visible for an element of -0, which
// becomes +0.
// KIND: ranges
#include "cuda/core/kernel.cuh"
#include "ops/embedding.hpp"

namespace assay::ROOM(embedding, adds_to_zero) {

inline constexpr int kThreads = 256;

KERNEL(embedding){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::hidden, kThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
__global__ void embedding_naive(const T* table, const std::int32_t* ids, T* y, std::int64_t tokens, std::int64_t hidden,
                                std::int64_t table_stride, std::int64_t y_stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= tokens * hidden) return;
  const std::int64_t token = i / hidden, h = i % hidden;
  st(y + token * y_stride + h, from_float<T>(0.0f + to_float(ld(table + ld(ids + token) * table_stride + h))));
}

void run(const embedding::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], hidden = a.y.shape[1];
  if (tokens * hidden == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(embedding_naive<T>, {.grid = dim3(ceil_div(tokens * hidden, kThreads)), .block = dim3(kThreads)}, l.stream,
           a.table.as<T>(), a.ids.as<std::int32_t>(), a.y.as<T>(), tokens, hidden, a.table.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(embedding, adds_to_zero)
