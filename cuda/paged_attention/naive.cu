// SPDX-License-Identifier: Apache-2.0
// One thread per query and 32 channels of its output: loops over the positions, looks up each page, online softmax (Milakov,
// Gimelshein 2018, arXiv 1805.02867).  Any head_dim, page size and layout.
#include "cuda/paged_attention/problem.cuh"

namespace assay::ROOM(paged_attention, naive) {

inline constexpr int kThreads = 32, kChannels = 32;

KERNEL(paged_attention){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kChannels), tile(Axis::heads, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .rescales = {.lanes = 1}},
    .supports = extents_fit,
};

template <class T>
__global__ void __launch_bounds__(kThreads) paged_attention_naive(Problem<T> p, int row_blocks, int channel_blocks) {
  const int block = static_cast<int>(blockIdx.x) / channel_blocks, batch = block / row_blocks;
  const int first = static_cast<int>(blockIdx.x) % channel_blocks * kChannels;
  const int row = block % row_blocks * kThreads + static_cast<int>(threadIdx.x);
  if (row >= p.queries * p.heads) return;
  const int query = row / p.heads, head = row % p.heads;
  const T* const q = p.q.of(batch, query, head);
  const std::int32_t* const table = p.table_of(batch);
  const int channels = p.dim - first < kChannels ? p.dim - first : kChannels;

  float o[kChannels] = {}, max = -INFINITY, sum = 0;
  const int visible = p.visible(ld(p.lengths + batch), query);
  for (int key = 0; key < visible; ++key) {
    const std::int64_t page = ld(table + key / p.page_size);
    const T* const k = p.k.of(page, key % p.page_size, head / p.group);
    const T* const v = p.v.of(page, key % p.page_size, head / p.group) + first;
    float s = 0;
    for (int c = 0; c < p.dim; ++c) s = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), s);
    s *= p.scale;

    // Note: fmaxf ignores a NaN, which still reaches the sum through its weight.
    const float larger = fmaxf(max, s), base = larger == -INFINITY ? 0.0f : larger;
    const float weight = expf(s - base);
    if (larger != max) {
      const float shrink = expf(max - base);
      sum *= shrink;
#pragma unroll
      for (int c = 0; c < kChannels; ++c) o[c] *= shrink;
      max = larger;
    }
    sum += weight;
#pragma unroll
    for (int c = 0; c < kChannels; ++c)
      if (c < channels) o[c] = fmaf(weight, to_float(ld(v + c)), o[c]);
  }

  T* const out = p.o.of(batch, query, head) + first;
#pragma unroll
  for (int c = 0; c < kChannels; ++c)
    if (c < channels) st(out + c, from_float<T>(sum == 0 ? 0.0f : o[c] / sum));
  if (first == 0) st(p.lse.of(batch, query, head), sum == 0 ? -INFINITY : max + logf(sum));
}

void run(const paged_attention::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a);
    const std::int64_t row_blocks = ceil_div(std::int64_t{p.queries} * p.heads, kThreads);
    const std::int64_t channel_blocks = ceil_div(p.dim, kChannels);
    launch(paged_attention_naive<T>, {.grid = dim3(row_blocks * channel_blocks * p.batches), .block = dim3(kThreads)}, l.stream,
           p, row_blocks, channel_blocks);
  });
}

}  // namespace assay::ROOM(paged_attention, naive)
