// SPDX-License-Identifier: Apache-2.0
// A warp a head of a new row: its first lane looks the place up and hands it to the others; 8 bytes at once where both places lie
// at multiples of 8, keys and values each by their own strides.
#include "cuda/core/kernel.cuh"
#include "ops/kv_append.hpp"

namespace assay::ROOM(kv_append, page_of_first_lane) {

inline constexpr int kWarps = 2;

KERNEL(kv_append){.dtypes = {f16, bf16, f32},
                  .tiles = {tile(Axis::kv_heads, kWarps), tile_bytes(Axis::head_dim, kWarp * 8)},
                  .numerics = {.accumulate = f32}};

struct Strides {
  std::int64_t at[3];
};
inline Strides strides_of(const Tensor& t) { return {{t.stride[0], t.stride[1], t.stride[2]}}; }
__device__ inline std::int64_t offset(const Strides& s, std::int64_t i, std::int64_t j, std::int64_t k) {
  return i * s.at[0] + j * s.at[1] + k * s.at[2];
}

template <class T>
__device__ inline void copy(const T* from, T* to, std::int64_t dim) {
  constexpr int N = 8 / sizeof(T);
  using Pack = Vec<T, N>;
  const bool packed = (reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to)) % 8 == 0;
  const std::int64_t packs = packed ? dim / N : 0;
  for (std::int64_t p = lane_id(); p < packs; p += kWarp)
    st(reinterpret_cast<Pack*>(to) + p, ld(reinterpret_cast<const Pack*>(from) + p));
  for (std::int64_t c = packs * N + lane_id(); c < dim; c += kWarp) st(to + c, ld(from + c));
}

template <class T>
__global__ void kv_append_page_of_first_lane(const T* k, const T* v, T* k_pool, T* v_pool, const std::int32_t* table,
                                             const std::int32_t* lengths, std::int64_t table_stride, Strides of_k, Strides of_v,
                                             Strides of_k_pool, Strides of_v_pool, std::int64_t items, std::int64_t rows,
                                             std::int64_t heads, std::int64_t dim, std::int64_t page_size) {
  const std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (item >= items) return;
  const std::int64_t head = item % heads, row = item / heads % rows, b = item / heads / rows;
  int page = -1, slot = 0;
  if (lane_id() == 0) {
    const std::int64_t position = static_cast<std::int64_t>(ld(lengths + b)) - rows + row;
    if (position >= 0) {
      page = ld(table + b * table_stride + position / page_size);
      slot = static_cast<int>(position % page_size);
    }
  }
  page = shuffle(page, 0), slot = shuffle(slot, 0);
  if (page < 0) return;
  copy(k + offset(of_k, b, row, head), k_pool + offset(of_k_pool, page, slot, head), dim);
  copy(v + offset(of_v, b, row, head), v_pool + offset(of_v_pool, page, slot, head), dim);
}

void run(const kv_append::Args& a, const Launch& l) {
  if (a.k.size() == 0) return;
  with_type(a.k.dtype, [&]<class T>(Type<T>) {
    const std::int64_t rows = a.k.shape[1], heads = a.k.shape[2], items = a.k.shape[0] * rows * heads;
    launch(kv_append_page_of_first_lane<T>, {.grid = dim3(ceil_div(items, kWarps)), .block = dim3(kWarps * kWarp)}, l.stream,
           a.k.as<T>(), a.v.as<T>(), a.k_pool.as<T>(), a.v_pool.as<T>(), a.page_table.as<std::int32_t>(),
           a.lengths.as<std::int32_t>(), a.page_table.stride[0], strides_of(a.k), strides_of(a.v), strides_of(a.k_pool),
           strides_of(a.v_pool), items, rows, heads, a.k.shape[3], a.k_pool.shape[1]);
  });
}

}  // namespace assay::ROOM(kv_append, page_of_first_lane)
