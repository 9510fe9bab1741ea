// SPDX-License-Identifier: Apache-2.0
// FAULT: The offset of a page of v_pool is computed in 32 bits. It overflows where page times the stride of a page reaches 2^31
// elements.
// Kind: offsets
#include "cuda/core/kernel.cuh"
#include "ops/kv_append.hpp"

namespace assay::ROOM(kv_append, page_offset_in_32_bits) {

KERNEL(kv_append){
    .dtypes = {f16, bf16, f32},
    .numerics = {.accumulate = f32},
};

template <class T>
struct Copy {
  const T* from;
  T* pool;
  std::int64_t batch, row, head, page, slot, pool_head;
};

// One block per new row of a sequence.
template <class T>
__global__ void kv_append_a_row(Copy<T> k, Copy<T> v, const std::int32_t* table, const std::int32_t* lengths, std::int64_t table_stride, int rows,
                                int heads, int dim, int page_size) {
  const int row = static_cast<int>(blockIdx.x) % rows;
  const std::int64_t b = blockIdx.x / rows;
  const int position = ld(lengths + b) - rows + row;
  if (position < 0) return;
  const int page = ld(table + b * table_stride + position / page_size);
  const int slot = position % page_size;
  for (int i = static_cast<int>(threadIdx.x); i < heads * dim; i += static_cast<int>(blockDim.x)) {
    const int head = i / dim, c = i % dim;
    const std::int64_t k_at = static_cast<std::int64_t>(page) * k.page + slot * k.slot + head * k.pool_head;
    const std::int64_t v_at = page * static_cast<int>(v.page) + slot * v.slot + head * v.pool_head;
    st(k.pool + k_at + c, ld(k.from + b * k.batch + row * k.row + head * k.head + c));
    st(v.pool + v_at + c, ld(v.from + b * v.batch + row * v.row + head * v.head + c));
  }
}

void run(const kv_append::Args& a, const Launch& l) {
  if (a.k.size() == 0) return;
  with_type(a.k.dtype, [&]<class T>(Type<T>) {
    const auto copy = [](const Tensor& from, const Tensor& pool) {
      return Copy<T>{from.as<T>(), pool.as<T>(), from.stride[0], from.stride[1], from.stride[2], pool.stride[0], pool.stride[1], pool.stride[2]};
    };
    Copy<T> k = copy(a.k, a.k_pool), v = copy(a.v, a.v_pool);
    launch(kv_append_a_row<T>, {.grid = dim3(a.k.shape[0] * a.k.shape[1]), .block = dim3(64)}, l.stream, k, v,
           a.page_table.as<std::int32_t>(), a.lengths.as<std::int32_t>(), a.page_table.stride[0], a.k.shape[1], a.k.shape[2],
           a.k.shape[3], a.k_pool.shape[1]);
  });
}

}  // namespace assay::ROOM(kv_append, page_offset_in_32_bits)
