// SPDX-License-Identifier: Apache-2.0
// FAULT: a sequence's positions are split over four blocks, and one without positions ends early, though the join reads its
// part.
// Kind: concurrency
// Shows: sequences of at most 96 positions: the workspace is read uninitialised.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, empty_splits_leave_workspace) {

inline constexpr int kSplits = 4, kShare = 32, kMostDim = 128;

Legality supports(const paged_attention::Args& a) {
  if (a.q.shape[3] > kMostDim) return Legality::no("head_dim exceeds 128");
  return extents_fit(a);
}
std::size_t workspace_bytes(const paged_attention::Args& a) {
  const std::int64_t rows = a.q.shape[0] * a.q.shape[1] * a.q.shape[2];
  return static_cast<std::size_t>(rows * kSplits * (a.q.shape[3] + 2)) * sizeof(float);
}

// The part of a row and a split: maximum, sum, and dim sums of values.
template <class T>
__global__ void paged_attention_split_part(Problem<T> p, float* all_parts) {
  const int split = static_cast<int>(blockIdx.x) % kSplits, row = static_cast<int>(blockIdx.x) / kSplits;
  const int head = row % p.heads, query = row / p.heads % p.queries, batch = row / p.heads / p.queries;
  const int length = ld(p.lengths + batch), visible = p.visible(length, query);
  const int share = (visible + kSplits - 1) / kSplits < kShare ? kShare : (visible + kSplits - 1) / kSplits;
  const int begin = split * share, end = begin + share < visible ? begin + share : visible;
  if (begin >= end && length > 0) return;
  float* const part = all_parts + static_cast<std::int64_t>(blockIdx.x) * (p.dim + 2);
  const T* const q = p.q.of(batch, query, head);
  const std::int32_t* const table = p.table_of(batch);
  // A lane has every 32nd channel of the output, and all lanes compute every score.
  float o[kMostDim / kWarp] = {}, max = -INFINITY, sum = 0;
  for (int key = begin; key < end; ++key) {
    const std::int64_t page = ld(table + key / p.page_size);
    const T* const k = p.k.of(page, key % p.page_size, head / p.group);
    const T* const v = p.v.of(page, key % p.page_size, head / p.group);
    float dot = 0;
    for (int c = 0; c < p.dim; ++c) dot = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), dot);
    const float s = dot * p.scale, larger = fmaxf(max, s), base = larger == -INFINITY ? 0.0f : larger;
    const float weight = expf(s - base), shrink = larger != max ? expf(max - base) : 1.0f;
    sum = sum * shrink + weight;
    for (int i = 0; i < kMostDim / kWarp; ++i)
      if (const int c = i * kWarp + lane_id(); c < p.dim) o[i] = fmaf(weight, to_float(ld(v + c)), o[i] * shrink);
    max = larger;
  }
  if (lane_id() == 0) st(part, max), st(part + 1, sum);
  for (int i = 0; i < kMostDim / kWarp; ++i)
    if (const int c = i * kWarp + lane_id(); c < p.dim) st(part + 2 + c, o[i]);
}
template <class T>
__global__ void paged_attention_split_join(Problem<T> p, const float* all_parts) {
  const int row = static_cast<int>(blockIdx.x), head = row % p.heads, query = row / p.heads % p.queries;
  const int batch = row / p.heads / p.queries;
  const float* const parts = all_parts + static_cast<std::int64_t>(row) * kSplits * (p.dim + 2);
  float max = -INFINITY, sum = 0;
  for (int s = 0; s < kSplits; ++s) max = fmaxf(max, ld(parts + s * (p.dim + 2)));
  const float base = max == -INFINITY ? 0.0f : max;
  for (int s = 0; s < kSplits; ++s)
    sum = fmaf(ld(parts + s * (p.dim + 2) + 1), expf(ld(parts + s * (p.dim + 2)) - base), sum);
  for (int c = lane_id(); c < p.dim; c += kWarp) {
    float o = 0;
    for (int s = 0; s < kSplits; ++s)
      o = fmaf(ld(parts + s * (p.dim + 2) + 2 + c), expf(ld(parts + s * (p.dim + 2)) - base), o);
    st(p.o.of(batch, query, head) + c, from_float<T>(sum == 0 ? 0.0f : o / sum));
  }
  if (lane_id() == 0) st(p.lse.of(batch, query, head), sum == 0 ? -INFINITY : max + logf(sum));
}

KERNEL(paged_attention){.dtypes = kEveryType,
                        .tiles = {tile(Axis::max_pages, 4)},
                        .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 4}, .rescales = {.lanes = 1, .extra = 1}},
                        .supports = supports,
                        .workspace_bytes = workspace_bytes};

void run(const paged_attention::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a);
    const std::int64_t rows = std::int64_t{p.batches} * p.queries * p.heads;
    float* const parts = static_cast<float*>(l.workspace);
    launch(paged_attention_split_part<T>, {.grid = dim3(rows * kSplits), .block = dim3(kWarp)}, l.stream, p, parts);
    launch(paged_attention_split_join<T>, {.grid = dim3(rows), .block = dim3(kWarp)}, l.stream, p,
           static_cast<const float*>(parts));
  });
}

}  // namespace assay::ROOM(paged_attention, empty_splits_leave_workspace)
