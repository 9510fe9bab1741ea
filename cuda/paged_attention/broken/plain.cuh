// SPDX-License-Identifier: Apache-2.0
// The steps of a plain kernel (core/kernel_family.cuh): one thread for each query and 32 channels of its output, key after key,
// the softmax kept up as it goes.
#pragma once

#include "cuda/core/kernel_family.cuh"
#include "cuda/paged_attention/problem.cuh"

namespace assay::ASSAY_FLAVOUR::paged_attention_room {

inline constexpr int kPlainThreads = kWarp, kPlainChannels = 32;

template <template <class> class>
constexpr KernelTraits<paged_attention> plain_traits(DTypes dtypes = kEveryType) {
  return {.dtypes = dtypes,
          .tiles = {tile(Axis::head_dim, kPlainChannels), tile(Axis::heads, kPlainThreads)},
          .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .rescales = {.lanes = 1}},
          .supports = extents_fit};
}

template <class T>
struct Paged : Problem<T> {
  int pages;  // of a pool
};

// What a thread has of the softmax and of its channels.
struct Part {
  float o[kPlainChannels] = {}, max = -INFINITY, sum = 0;
};

// Every step as it should be.
template <class T>
struct Plain {
  static constexpr int kWarps = 1;  // of a block; each takes the same queries
  static constexpr std::size_t kSharedBytes = 0;

  static __device__ const std::int32_t* table_of(const Paged<T>& p, int batch) { return p.table_of(batch); }
  static __device__ int visible(const Paged<T>& p, int length, int query) { return p.visible(length, query); }
  // Positions that are gone through, and which of them count.
  static __device__ int end(const Paged<T>&, int visible) { return visible; }
  static __device__ bool counts(const Paged<T>&, std::int64_t /*page*/, int /*key*/, int /*visible*/) { return true; }
  // Goes through all positions by calls of take(begin, end, part).  Returns whether the thread has the output in the end.
  template <class Take>
  static __device__ bool attend(int end, Part& part, Take&& take) {
    take(0, end, part);
    return true;
  }
  static __device__ std::int64_t page(const Paged<T>& p, const std::int32_t* table, int key) {
    return ld(table + key / p.page_size);
  }
  static __device__ int kv_head(const Paged<T>& p, int head) { return head / p.group; }
  static __device__ float score(const Paged<T>& p, float dot, int /*key*/, int /*visible*/) { return dot * p.scale; }
  // The output with a value added.
  static __device__ float added(float o, float weight, float v) { return fmaf(weight, v, o); }
};

template <class T, class S>
__global__ void __launch_bounds__(S::kWarps* kPlainThreads)
    paged_attention_plain(Paged<T> p, int row_blocks, int channel_blocks) {
  const int block = static_cast<int>(blockIdx.x) / channel_blocks, batch = block / row_blocks;
  const int first = static_cast<int>(blockIdx.x) % channel_blocks * kPlainChannels;
  const int row = block % row_blocks * kPlainThreads + lane_id();
  if (row >= p.queries * p.heads) return;
  const int query = row / p.heads, head = row % p.heads, kv_head = S::kv_head(p, head);
  const T* const q = p.q.of(batch, query, head);
  const std::int32_t* const table = S::table_of(p, batch);
  const int channels = p.dim - first < kPlainChannels ? p.dim - first : kPlainChannels;
  const int visible = S::visible(p, ld(p.lengths + batch), query);

  Part all;
  const bool has_output = S::attend(S::end(p, visible), all, [&](int begin, int end, Part& part) {
    for (int key = begin; key < end; ++key) {
      const std::int64_t page = S::page(p, table, key);
      if (!S::counts(p, page, key, visible)) continue;
      const T* const k = p.k.of(page, key % p.page_size, kv_head);
      const T* const v = p.v.of(page, key % p.page_size, kv_head) + first;
      float dot = 0;
      for (int c = 0; c < p.dim; ++c) dot = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), dot);
      const float s = S::score(p, dot, key, visible);

      // Note: fmaxf passes over a NaN, which then reaches the sum through its weight.
      const float larger = fmaxf(part.max, s), base = larger == -INFINITY ? 0.0f : larger;
      const float weight = expf(s - base);
      if (larger != part.max) {
        const float shrink = expf(part.max - base);
        part.sum *= shrink;
#pragma unroll
        for (int c = 0; c < kPlainChannels; ++c) part.o[c] *= shrink;
        part.max = larger;
      }
      part.sum += weight;
#pragma unroll
      for (int c = 0; c < kPlainChannels; ++c)
        if (c < channels) part.o[c] = S::added(part.o[c], weight, to_float(ld(v + c)));
    }
  });
  if (!has_output) return;

  T* const out = p.o.of(batch, query, head) + first;
#pragma unroll
  for (int c = 0; c < kPlainChannels; ++c)
    if (c < channels) st(out + c, from_float<T>(all.sum == 0 ? 0.0f : all.o[c] / all.sum));
  if (first == 0) st(p.lse.of(batch, query, head), all.sum == 0 ? -INFINITY : all.max + logf(all.sum));
}

template <template <class> class S>
void run_plain(const paged_attention::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Paged<T> p{problem<T>(a), static_cast<int>(a.k_pool.shape[0])};
    const std::int64_t row_blocks = ceil_div(std::int64_t{p.queries} * p.heads, kPlainThreads);
    const std::int64_t channel_blocks = ceil_div(p.dim, kPlainChannels);
    launch(paged_attention_plain<T, S<T>>,
           {.grid = dim3(row_blocks * channel_blocks * p.batches),
            .block = dim3(S<T>::kWarps * kPlainThreads),
            .shared_bytes = S<T>::kSharedBytes},
           l.stream, p, row_blocks, channel_blocks);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::paged_attention_room
