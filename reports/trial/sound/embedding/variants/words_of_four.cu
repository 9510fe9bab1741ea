// SPDX-License-Identifier: Apache-2.0
// A token a warp of a fixed grid that walks on; 4 bytes at once where source and destination lie at multiples of 4, the odd
// element
// at the end by itself, and element by element elsewhere.
#include "cuda/core/kernel.cuh"
#include "ops/embedding.hpp"

namespace assay::ROOM(embedding, words_of_four) {

inline constexpr int kWarps = 3;
inline constexpr std::int64_t kMostBlocks = 40;

KERNEL(embedding){.dtypes = {f16, bf16, f32},
                  .tiles = {tile(Axis::tokens, kWarps), tile(Axis::hidden, kWarp)},
                  .numerics = {.accumulate = f32}};

template <class T>
__global__ void embedding_words_of_four(const T* table, const std::int32_t* ids, T* y, std::int64_t tokens, std::int64_t hidden,
                                        std::int64_t table_stride, std::int64_t y_stride) {
  constexpr int N = 4 / sizeof(T);
  using Pack = Vec<T, N>;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kWarps;
  for (std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id(); token < tokens; token += step) {
    const T* const from = table + static_cast<std::int64_t>(ld(ids + token)) * table_stride;
    T* const to = y + token * y_stride;
    const bool words = reinterpret_cast<std::uintptr_t>(from) % 4 == 0 && reinterpret_cast<std::uintptr_t>(to) % 4 == 0;
    const std::int64_t packs = words ? hidden / N : 0;
    for (std::int64_t p = lane_id(); p < packs; p += kWarp)
      st(reinterpret_cast<Pack*>(to) + p, ld(reinterpret_cast<const Pack*>(from) + p));
    for (std::int64_t h = packs * N + lane_id(); h < hidden; h += kWarp) st(to + h, ld(from + h));
  }
}

void run(const embedding::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], hidden = a.y.shape[1];
  if (tokens * hidden == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(embedding_words_of_four<T>,
           {.grid = dim3(std::min(ceil_div(tokens, kWarps), kMostBlocks)), .block = dim3(kWarps * kWarp)}, l.stream,
           a.table.as<T>(), a.ids.as<std::int32_t>(), a.y.as<T>(), tokens, hidden, a.table.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(embedding, words_of_four)
