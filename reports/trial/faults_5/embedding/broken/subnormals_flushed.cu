// SPDX-License-Identifier: Apache-2.0
// FAULT: the row passes through f32 arithmetic that flushes subnormals to zero, as under a fast-math flag.
// KIND: ranges
// Right on: embedding f16 tokens=64 hidden=256 vocab=128 fill=normal seed=1
// Wrong on: embedding bf16 tokens=16 hidden=64 vocab=16 fill=subnormals seed=1
#include "cuda/core/kernel.cuh"
#include "ops/embedding.hpp"

namespace assay::ROOM(embedding, subnormals_flushed) {

inline constexpr int kThreads = 256;

KERNEL(embedding){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::hidden, kThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
__device__ inline T flushed(T v) {
  const float f = to_float(v);
  return fabsf(f) < 0x1p-126f ? from_float<T>(copysignf(0.0f, f)) : v;
}

template <class T>
__global__ void embedding_subnormals_flushed(const T* table, const std::int32_t* ids, T* y, std::int64_t tokens,
                                             std::int64_t hidden, std::int64_t table_stride, std::int64_t y_stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= tokens * hidden) return;
  const std::int64_t token = i / hidden, h = i % hidden;
  st(y + token * y_stride + h, flushed(ld(table + ld(ids + token) * table_stride + h)));
}

void run(const embedding::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], hidden = a.y.shape[1];
  if (tokens * hidden == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(embedding_subnormals_flushed<T>, {.grid = dim3(ceil_div(tokens * hidden, kThreads)), .block = dim3(kThreads)},
           l.stream, a.table.as<T>(), a.ids.as<std::int32_t>(), a.y.as<T>(), tokens, hidden, a.table.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(embedding, subnormals_flushed)
