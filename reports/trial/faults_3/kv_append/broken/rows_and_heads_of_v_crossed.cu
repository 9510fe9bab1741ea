// SPDX-License-Identifier: Apache-2.0
// FAULT: where there are as many new rows as heads, rows and heads of V are taken for each other.
// Kind: combinations
// Shows: as many new rows as heads, and more than one.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, rows_and_heads_of_v_crossed) {

template <class T>
struct Crossed : Plain<T> {
  __device__ static void store(const Problem<T>& p, std::int64_t b, int row, std::int64_t from, std::int64_t to) {
    st(p.k_pool + to, ld(p.k + from));
    const std::int64_t inside = from - b * p.batch_stride - row * p.row_stride, head = inside / p.head_stride;
    const bool crossed = p.rows > 1 && p.kv_heads == p.rows;
    const std::int64_t other = b * p.batch_stride + head * p.row_stride + row * p.head_stride + inside % p.head_stride;
    st(p.v_pool + to, ld(p.v + (crossed ? other : from)));
  }
};
KERNEL_FROM(kv_append, plain, Crossed);

}  // namespace assay::ROOM(kv_append, rows_and_heads_of_v_crossed)
