// SPDX-License-Identifier: Apache-2.0
// FAULT: a warp looks the page up once for each chunk of 16 keys, as if a chunk lay in one page.
// Kind: offsets
// Shows: a page_size that is not a multiple of 16, and more keys than a page has.
#include "cuda/core/kernel_family.cuh"
#include "cuda/core/reduce.cuh"
#include "cuda/paged_attention/problem.cuh"

namespace assay::ROOM(paged_attention, one_page_a_chunk) {

inline constexpr int kWarps = 4, kParts = 4;  // kParts: channels a lane

template <class T>
__global__ void heads_by_warps(Problem<T> p, std::int64_t rows, int channel_blocks) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) / channel_blocks * kWarps + warp_id();
  const int first = static_cast<int>(blockIdx.x % channel_blocks) * kParts * kWarp;
  if (at >= rows) return;
  const int head = static_cast<int>(at % p.heads), query = static_cast<int>(at / p.heads % p.queries);
  const std::int64_t batch = at / p.heads / p.queries;
  const int kv = head / p.group, visible = p.visible(ld(p.lengths + batch), query), lane = lane_id();
  const T* const q = p.q.of(batch, query, head);
  const std::int32_t* const table = p.table_of(static_cast<int>(batch));

  float max = -INFINITY, sum = 0, o[kParts] = {};
  constexpr int kChunk = 16;
  for (int begin = 0; begin < visible; begin += kChunk) {
    const std::int64_t page = ld(table + p.entry(begin));
    const int end = begin + kChunk < visible ? begin + kChunk : visible;
    for (int key = begin; key < end; ++key) {
      const int slot = begin % p.page_size + (key - begin);
      const T* const k = p.k.of(page, slot, kv);
      const T* const v = p.v.of(page, slot, kv);
      {
        float dot = 0;
        for (int c = lane; c < p.dim; c += kWarp) dot = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), dot);
        const float s = warp_sum(dot) * p.scale;
        // Note: fmaxf passes over a NaN, which then reaches the sum through its weight.
        const float larger = fmaxf(max, s), base = larger == -INFINITY ? 0.0f : larger;
        const float weight = expf(s - base), shrink = larger == max ? 1.0f : expf(max - base);
        sum = sum * shrink + weight;
        max = larger;
    #pragma unroll
        for (int i = 0; i < kParts; ++i)
          if (const int c = first + i * kWarp + lane; c < p.dim) o[i] = fmaf(weight, to_float(ld(v + c)), o[i] * shrink);
      }
    }
  }
  T* const out = p.o.of(batch, query, head);
#pragma unroll
  for (int i = 0; i < kParts; ++i)
    if (const int c = first + i * kWarp + lane; c < p.dim) st(out + c, from_float<T>(sum == 0 ? 0.0f : o[i] / sum));
  if (first == 0 && lane == 0) st(p.lse.of(batch, query, head), sum == 0 ? -INFINITY : max + logf(sum));
}

KERNEL(paged_attention) = {.dtypes = kEveryType,
                           .tiles = {tile(Axis::head_dim, kParts * kWarp), tile(Axis::heads, kWarps)},
                           .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 5}, .rescales = {.lanes = 1}},
                           .supports = extents_fit};

void run(const paged_attention::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a);
    const std::int64_t rows = std::int64_t{p.batches} * p.queries * p.heads, across = ceil_div(p.dim, kParts * kWarp);
    launch(heads_by_warps<T>, {.grid = dim3(ceil_div(rows, kWarps) * across), .block = dim3(kWarps * kWarp)}, l.stream, p, rows,
           static_cast<int>(across));
  });
}

}  // namespace assay::ROOM(paged_attention, one_page_a_chunk)
