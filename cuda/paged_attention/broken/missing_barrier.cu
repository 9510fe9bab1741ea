// SPDX-License-Identifier: Apache-2.0
// FAULT: one warp reads what the other hands over through shared memory, with no barrier between.
// Caught by: the comparison: where the reader comes first it gets what nobody has written, on simt NaN.
#include "cuda/paged_attention/problem.cuh"

namespace assay::ROOM(paged_attention, missing_barrier) {

inline constexpr int kThreads = 32, kChannels = 32;

KERNEL(paged_attention){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kChannels), tile(Axis::heads, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .rescales = {.lanes = 1}},
    .supports = extents_fit,
};

template <class T>
__global__ void __launch_bounds__(2 * kThreads) paged_attention_two_warps(Problem<T> p, int row_blocks, int channel_blocks) {
  const int block = static_cast<int>(blockIdx.x) / channel_blocks, batch = block / row_blocks;
  const int first = static_cast<int>(blockIdx.x) % channel_blocks * kChannels;
  const int row = block % row_blocks * kThreads + lane_id();
  if (row >= p.queries * p.heads) return;
  const int query = row / p.heads, head = row % p.heads;
  const T* const q = p.q.of(batch, query, head);
  const std::int32_t* const table = p.table_of(batch);
  const int channels = p.dim - first < kChannels ? p.dim - first : kChannels;

  float o[kChannels] = {}, max = -INFINITY, sum = 0;
  const int visible = p.visible(ld(p.lengths + batch), query);
  const int middle = (visible + 1) / 2;
  for (int key = warp_id() ? middle : 0; key < (warp_id() ? visible : middle); ++key) {
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

  // The second warp hands over what it has.
  float* const handed = shared_memory<float>() + lane_id() * (kChannels + 2);
  if (warp_id()) {
    st(handed, max);
    st(handed + 1, sum);
    for (int c = 0; c < kChannels; ++c) st(handed + 2 + c, o[c]);
    return;
  }
  const float other = ld(handed), all = fmaxf(max, other), base = all == -INFINITY ? 0.0f : all;
  const float mine = expf(max - base), theirs = expf(other - base);
  max = all;
  sum = fmaf(sum, mine, ld(handed + 1) * theirs);
#pragma unroll
  for (int c = 0; c < kChannels; ++c) o[c] = fmaf(o[c], mine, ld(handed + 2 + c) * theirs);

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
    launch(paged_attention_two_warps<T>,
           {.grid = dim3(row_blocks * channel_blocks * p.batches),
            .block = dim3(2 * kThreads),
            .shared_bytes = kThreads * (kChannels + 2) * sizeof(float)},
           l.stream, p, row_blocks, channel_blocks);
  });
}

}  // namespace assay::ROOM(paged_attention, missing_barrier)
