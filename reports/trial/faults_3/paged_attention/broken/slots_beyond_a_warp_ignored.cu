// SPDX-License-Identifier: Apache-2.0
// FAULT: a lane takes a slot of a page, and pages of more than 32 slots are gone through in whole warps only, at least one.
// Kind: offsets
// Shows: page sizes above 32 that 32 does not divide, such as 48: the last slots of each page have no effect.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, slots_beyond_a_warp_ignored) {

inline constexpr int kMostDim = 256;

Legality supports(const paged_attention::Args& a) {
  if (a.q.shape[3] > kMostDim) return Legality::no("head_dim exceeds 256");
  return extents_fit(a);
}

template <class T>
__global__ void paged_attention_lane_a_slot(Problem<T> p) {
  const int row = static_cast<int>(blockIdx.x), head = row % p.heads, query = row / p.heads % p.queries;
  const int batch = row / p.heads / p.queries, kv = head / p.group;
  const int visible = p.visible(ld(p.lengths + batch), query), turns = p.page_size < kWarp ? 1 : p.page_size / kWarp;
  const T* const q = p.q.of(batch, query, head);
  const std::int32_t* const table = p.table_of(batch);
  float o[kMostDim / kWarp] = {}, max = -INFINITY, sum = 0;
  for (int first = 0; first < visible; first += p.page_size) {
    const std::int64_t page = ld(table + first / p.page_size);
    for (int turn = 0; turn < turns; ++turn) {
      const int slot = turn * kWarp + lane_id();
      const bool there = slot < p.page_size && first + slot < visible;
      float s = -INFINITY;
      if (there) {
        const T* const k = p.k.of(page, slot, kv);
        float dot = 0;
        for (int c = 0; c < p.dim; ++c) dot = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), dot);
        s = dot * p.scale;
      }
      float larger = s;
      for (int offset = kWarp / 2; offset > 0; offset /= 2) larger = fmaxf(larger, shuffle_xor(larger, offset));
      larger = fmaxf(max, larger);
      const float base = larger == -INFINITY ? 0.0f : larger, shrink = expf(max - base);
      const float weight = there ? expf(s - base) : 0.0f;
      sum *= shrink;
      for (int i = 0; i < kMostDim / kWarp; ++i) o[i] *= shrink;
      max = larger;
      for (int j = 0; j < kWarp; ++j) {
        const float of_j = shuffle(weight, j);
        const int at = turn * kWarp + j;
        if (at >= p.page_size || first + at >= visible) break;
        sum += of_j;
        const T* const v = p.v.of(page, at, kv);
        for (int i = 0; i < kMostDim / kWarp; ++i)
          if (const int c = i * kWarp + lane_id(); c < p.dim) o[i] = fmaf(of_j, to_float(ld(v + c)), o[i]);
      }
    }
  }
  T* const out = p.o.of(batch, query, head);
  for (int i = 0; i < kMostDim / kWarp; ++i)
    if (const int c = i * kWarp + lane_id(); c < p.dim) st(out + c, from_float<T>(sum == 0 ? 0.0f : o[i] / sum));
  if (lane_id() == 0) st(p.lse.of(batch, query, head), sum == 0 ? -INFINITY : max + logf(sum));
}

KERNEL(paged_attention){.dtypes = kEveryType,
                        .tiles = {tile(Axis::head_dim, kWarp)},
                        .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .rescales = {.lanes = 1}},
                        .supports = supports};

void run(const paged_attention::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a);
    launch(paged_attention_lane_a_slot<T>, {.grid = dim3(std::int64_t{p.batches} * p.queries * p.heads), .block = dim3(kWarp)},
           l.stream, p);
  });
}

}  // namespace assay::ROOM(paged_attention, slots_beyond_a_warp_ignored)
