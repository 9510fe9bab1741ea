// SPDX-License-Identifier: Apache-2.0
// The steps of a plain kernel (core/kernel_family.cuh): one thread for an element of a new row, of K and of V.
#pragma once

#include "cuda/core/kernel_family.cuh"
#include "cuda/kv_append/problem.cuh"

namespace assay::ASSAY_FLAVOUR::kv_append_room {

inline constexpr int kPlainThreads = 128;

// Every step as it should be.
template <class T>
struct Plain {
  // As Problem::place, of the slot for a position of sequence b.
  __device__ static std::int64_t slot(const Problem<T>& p, std::int64_t b, int position) {
    const std::int64_t page = ld(p.table + b * p.table_stride + position / p.page_size);
    return page * p.page_stride + position % p.page_size * p.slot_stride;
  }
  __device__ static std::int64_t place(const Problem<T>& p, std::int64_t b, int row) { return p.place(b, row); }
  // Element `from` of K and of V goes to element `to` of the pools.
  __device__ static void store(const Problem<T>& p, std::int64_t, int, std::int64_t from, std::int64_t to) {
    st(p.k_pool + to, ld(p.k + from));
    st(p.v_pool + to, ld(p.v + from));
  }
  // Its threads wait for no launch before.
  static bool begins_early(const Launch&) { return false; }
};

// Block (channels, head, row, sequence), the channels fastest.
template <class T, class F>
__global__ void __launch_bounds__(kPlainThreads) kv_append_plain(Problem<T> p, int channel_blocks) {
  const int c = static_cast<int>(blockIdx.x) % channel_blocks * kPlainThreads + static_cast<int>(threadIdx.x);
  const int all = static_cast<int>(blockIdx.x) / channel_blocks, head = all % p.kv_heads, row = all / p.kv_heads % p.rows;
  const std::int64_t b = all / p.kv_heads / p.rows, place = F::place(p, b, row);
  if (c >= p.dim || place < 0) return;
  F::store(p, b, row, b * p.batch_stride + row * p.row_stride + head * p.head_stride + c, place + head * p.pool_head_stride + c);
}

template <template <class> class F>
constexpr KernelTraits<kv_append> plain_traits(DTypes dtypes = kEveryType) {
  return {
      .dtypes = dtypes, .tiles = {tile(Axis::head_dim, kPlainThreads)}, .numerics = {.accumulate = f32}, .supports = extents_fit};
}

template <template <class> class F>
void run_plain(const kv_append::Args& a, const Launch& l) {
  if (a.k.size() == 0) return;
  with_type(a.k.dtype, [&]<class T>(Type<T>) {
    const std::int64_t channel_blocks = ceil_div(a.k.shape[3], kPlainThreads);
    launch(kv_append_plain<T, F<T>>,
           {.grid = dim3(channel_blocks * a.k.shape[0] * a.k.shape[1] * a.k.shape[2]),
            .block = dim3(kPlainThreads),
            .dependent = F<T>::begins_early(l)},
           l.stream, problem<T>(a), channel_blocks);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::kv_append_room
