// SPDX-License-Identifier: Apache-2.0
// FAULT (state): the lengths are copied to workspace once for their address and the number of sequences.
// Right on: paged_attention f16 batch=2 seq_q=1 heads=4 kv_heads=4 head_dim=64 pages=8 page_size=16 max_pages=4 fill=normal
// seed=2
#include "../../kept.cuh"
#include "cuda/paged_attention/problem.cuh"

namespace assay::ROOM(paged_attention, lengths_kept_by_address) {

inline constexpr int kThreads = 32, kChannels = 32;

KERNEL(paged_attention){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kChannels), tile(Axis::heads, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .rescales = {.lanes = 1}},
    .supports = extents_fit,
    .workspace_bytes = [](const paged_attention::Args& a) { return static_cast<std::size_t>(256 + a.q.shape[0] * 4); },
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    paged_attention_lengths_kept_by_address(Problem<T> p, int row_blocks, int channel_blocks) {
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

__global__ void paged_attention_keep(const std::int32_t* lengths, std::int32_t* kept, int batches, const unsigned* key) {
  if (ld(key + 1) != 0) return;
  for (int b = 0; b < batches; ++b) st(kept + b, ld(lengths + b));
}

void run(const paged_attention::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    Problem<T> p = problem<T>(a);
    static kept::Call before{};
    const bool repeated = kept::again(before, {{a.lengths.data, l.workspace}, {p.batches}, a.q.dtype});
    kept::run_decide(l, repeated, kept::Mark{});
    std::int32_t* const kept = kept::store_of<std::int32_t>(l);
    launch(paged_attention_keep, {.grid = dim3(1), .block = dim3(1)}, l.stream, p.lengths, kept, p.batches, kept::key_of(l));
    p.lengths = kept;
    const std::int64_t row_blocks = ceil_div(std::int64_t{p.queries} * p.heads, kThreads);
    const std::int64_t channel_blocks = ceil_div(p.dim, kChannels);
    launch(paged_attention_lengths_kept_by_address<T>,
           {.grid = dim3(row_blocks * channel_blocks * p.batches), .block = dim3(kThreads)}, l.stream, p, row_blocks,
           channel_blocks);
  });
}

}  // namespace assay::ROOM(paged_attention, lengths_kept_by_address)
