// SPDX-License-Identifier: Apache-2.0
// A query a warp, for heads of up to 256 channels: a lane a key for the maximum, and again for 32 weights at a time, which go
// through
// shared memory to every lane and its channels.
#include "cuda/core/reduce.cuh"
#include "cuda/paged_attention/problem.cuh"

namespace assay::ROOM(paged_attention, lane_a_key) {

using namespace paged_attention_room;

inline constexpr int kEach = 8, kMostChannels = kEach * kWarp;

Legality supports(const paged_attention::Args& a) {
  return a.q.shape[3] > kMostChannels ? Legality::no("head_dim exceeds 256") : extents_fit(a);
}
KERNEL(paged_attention){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .supports = supports,
};

template <class T>
__global__ void paged_attention_lane_a_key(Problem<T> p) {
  float* const weights = shared_memory<float>();
  const int row = static_cast<int>(blockIdx.x), head = row % p.heads, query = row / p.heads % p.queries;
  const int batch = row / p.heads / p.queries, kv_head = head / p.group, lane = lane_id();
  const T* const q = p.q.of(batch, query, head);
  const std::int32_t* const table = p.table_of(batch);
  const int visible = p.visible(ld(p.lengths + batch), query);
  const auto score = [&](int key) {
    const T* const k = p.k.of(ld(table + p.entry(key)), key % p.page_size, kv_head);
    float dot = 0;
    for (int c = 0; c < p.dim; ++c) dot = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), dot);
    return dot * p.scale;
  };
  // Note: fmaxf passes over a NaN, which then reaches the sum through its weight.
  float max = -INFINITY, sum = 0, o[kEach] = {};
  for (int key = lane; key < visible; key += kWarp) max = fmaxf(max, score(key));
  max = warp_max(max);
  const float base = max == -INFINITY ? 0.0f : max;
  for (int first = 0; first < visible; first += kWarp) {
    const float mine = first + lane < visible ? expf(score(first + lane) - base) : 0.0f;
    sum += mine;
    sync_warp();
    st(weights + lane, mine);
    sync_warp();
    for (int key = first; key < first + kWarp && key < visible; ++key) {
      const T* const v = p.v.of(ld(table + p.entry(key)), key % p.page_size, kv_head);
      const float weight = ld(weights + key - first);
#pragma unroll
      for (int i = 0; i < kEach; ++i)
        if (lane + i * kWarp < p.dim) o[i] = fmaf(weight, to_float(ld(v + lane + i * kWarp)), o[i]);
    }
  }
  sum = warp_sum(sum);
  T* const out = p.o.of(batch, query, head);
#pragma unroll
  for (int i = 0; i < kEach; ++i)
    if (lane + i * kWarp < p.dim) st(out + lane + i * kWarp, from_float<T>(sum == 0 ? 0.0f : o[i] / sum));
  if (lane == 0) st(p.lse.of(batch, query, head), sum == 0 ? -INFINITY : max + logf(sum));
}

void run(const paged_attention::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a);
    launch(paged_attention_lane_a_key<T>,
           {.grid = dim3(std::int64_t{p.batches} * p.queries * p.heads), .block = dim3(kWarp), .shared_bytes = kWarp * sizeof(float)},
           l.stream, p);
  });
}

}  // namespace assay::ROOM(paged_attention, lane_a_key)
