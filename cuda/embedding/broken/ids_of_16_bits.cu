// SPDX-License-Identifier: Apache-2.0
// FAULT: ids are kept in 16 bits. Right for a vocabulary of up to 65,536 entries.
// Caught by: the comparison on ids_last and ids_backwards with a larger vocabulary.
#include "cuda/core/kernel.cuh"
#include "ops/embedding.hpp"

namespace assay::ROOM(embedding, ids_of_16_bits) {

inline constexpr int kThreads = 128;

KERNEL(embedding){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::hidden, kThreads)},
    .numerics = {.accumulate = f32},
};

template <class T>
__global__ void ids_of_16_bits(const T* table, const std::int32_t* ids, T* y, std::int64_t hidden, std::int64_t table_stride,
                     std::int64_t y_stride) {
  const std::int64_t token = blockIdx.x;
  const std::int64_t id = static_cast<std::uint16_t>(ld(ids + token));
  for (std::int64_t h = threadIdx.x; h < hidden; h += kThreads) st(y + token * y_stride + h, ld(table + id * table_stride + h));
}

void run(const embedding::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], hidden = a.y.shape[1];
  if (tokens * hidden == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(ids_of_16_bits<T>, {.grid = dim3(tokens), .block = dim3(kThreads)}, l.stream,
           a.table.as<T>(), a.ids.as<std::int32_t>(), a.y.as<T>(), hidden, a.table.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(embedding, ids_of_16_bits)
