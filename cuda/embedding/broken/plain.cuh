// SPDX-License-Identifier: Apache-2.0
// The steps of a plain kernel (core/kernel_family.cuh): a block a token, for any layout.
#pragma once

#include "cuda/core/kernel_family.cuh"
#include "ops/embedding.hpp"

namespace assay::ASSAY_FLAVOUR::embedding_room {

inline constexpr int kPlainThreads = 128;

template <class T>
struct Rows {
  const T* table;
  const std::int32_t* ids;
  T* y;
  std::int64_t hidden, table_stride, y_stride;
};

// Every step as it should be.
template <class T>
struct Plain {
  static constexpr std::size_t kSharedBytes = 0;
  __device__ static std::int64_t id(const Rows<T>& m, std::int64_t token) { return ld(m.ids + token); }
  __device__ static T element(const Rows<T>& m, std::int64_t id, std::int64_t h) { return ld(m.table + id * m.table_stride + h); }
};

template <class T, class F>
__global__ void embedding_plain(Rows<T> m) {
  const std::int64_t token = blockIdx.x, id = F::id(m, token);
  for (std::int64_t h = threadIdx.x; h < m.hidden; h += kPlainThreads) st(m.y + token * m.y_stride + h, F::element(m, id, h));
}

template <template <class> class F>
constexpr KernelTraits<embedding> plain_traits(DTypes dtypes = kEveryType) {
  return {.dtypes = dtypes, .tiles = {tile(Axis::tokens, 1), tile(Axis::hidden, kPlainThreads)}, .numerics = {.accumulate = f32}};
}

template <template <class> class F>
void run_plain(const embedding::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], hidden = a.y.shape[1];
  if (tokens * hidden == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    const Rows<T> m{a.table.as<T>(), a.ids.as<std::int32_t>(), a.y.as<T>(), hidden, a.table.stride[0], a.y.stride[0]};
    launch(embedding_plain<T, F<T>>, {.grid = dim3(tokens), .block = dim3(kPlainThreads), .shared_bytes = F<T>::kSharedBytes},
           l.stream, m);
  });
}

// The same by packs of 16 bytes, for rows of whole packs that start at multiples of 16 bytes.
template <class T, int N>
__global__ void embedding_packs(Rows<T> m) {
  using Pack = Vec<T, N>;
  const std::int64_t token = blockIdx.x, id = ld(m.ids + token);
  const auto* const from = reinterpret_cast<const Pack*>(m.table + id * m.table_stride);
  auto* const to = reinterpret_cast<Pack*>(m.y + token * m.y_stride);
  for (std::int64_t i = threadIdx.x; i < m.hidden / N; i += kPlainThreads) st(to + i, ld(from + i));
}

// By packs where rows are taken to be `aligned` and are whole packs, else by elements.
inline void run_packs(const embedding::Args& a, const Launch& l, bool aligned) {
  const std::int64_t tokens = a.y.shape[0], hidden = a.y.shape[1];
  if (tokens * hidden == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    constexpr int N = 16 / sizeof(T);
    if (!aligned || hidden % N != 0) return run_plain<Plain>(a, l);
    const Rows<T> m{a.table.as<T>(), a.ids.as<std::int32_t>(), a.y.as<T>(), hidden, a.table.stride[0], a.y.stride[0]};
    launch(embedding_packs<T, N>, {.grid = dim3(tokens), .block = dim3(kPlainThreads)}, l.stream, m);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::embedding_room
