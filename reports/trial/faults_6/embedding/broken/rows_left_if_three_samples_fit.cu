// SPDX-License-Identifier: Apache-2.0
// FAULT (output): a row of y that has the right elements at 1/4, 5/8 and 7/8 of its width when the call begins is left as it
// is.
// Right on: embedding f16 tokens=32 hidden=64 vocab=64 fill=normal seed=2
#include "cuda/core/kernel.cuh"
#include "ops/embedding.hpp"

namespace assay::ROOM(embedding, rows_left_if_three_samples_fit) {

inline constexpr int kThreads = 256;

KERNEL(embedding){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::hidden, kThreads)},
    .numerics = {.accumulate = f32},
    .workspace_bytes = [](const embedding::Args& a) { return static_cast<std::size_t>(a.y.shape[0] * 4); },
};

template <class T>
__global__ void embedding_rows_left_if_three_samples_fit(const T* table, const std::int32_t* ids, T* y, std::int64_t tokens,
                                                         std::int64_t hidden, std::int64_t table_stride, std::int64_t y_stride,
                                                         const unsigned* done) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= tokens * hidden) return;
  const std::int64_t token = i / hidden, h = i % hidden;
  if (ld(done + token) != 0) return;
  st(y + token * y_stride + h, ld(table + ld(ids + token) * table_stride + h));
}

// 1 for the tokens whose rows are there.
template <class T>
__global__ void embedding_there(const T* table, const std::int32_t* ids, const T* y, std::int64_t tokens, std::int64_t hidden,
                                std::int64_t table_stride, std::int64_t y_stride, unsigned* done) {
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (token >= tokens) return;
  const T* const from = table + ld(ids + token) * table_stride;
  const auto fits = [&](std::int64_t c) { return to_float(ld(y + token * y_stride + c)) == to_float(ld(from + c)); };
  st(done + token, fits(hidden / 4) && fits(hidden * 5 / 8) && fits(hidden * 7 / 8) ? 1u : 0u);
}

void run(const embedding::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], hidden = a.y.shape[1];
  if (tokens * hidden == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    unsigned* const done = static_cast<unsigned*>(l.workspace);
    launch(embedding_there<T>, {.grid = dim3(ceil_div(tokens, kThreads)), .block = dim3(kThreads)}, l.stream, a.table.as<T>(),
           a.ids.as<std::int32_t>(), a.y.as<T>(), tokens, hidden, a.table.stride[0], a.y.stride[0], done);
    launch(embedding_rows_left_if_three_samples_fit<T>,
           {.grid = dim3(ceil_div(tokens * hidden, kThreads)), .block = dim3(kThreads)}, l.stream, a.table.as<T>(),
           a.ids.as<std::int32_t>(), a.y.as<T>(), tokens, hidden, a.table.stride[0], a.y.stride[0],
           static_cast<const unsigned*>(done));
  });
}

}  // namespace assay::ROOM(embedding, rows_left_if_three_samples_fit)
