// SPDX-License-Identifier: Apache-2.0
// A query a warp, for heads of up to 256 channels and masks only: a lane a key for the maximum, and again for 32 weights at a
// time,
// which every lane then takes one after the other for its channels.
#include "cuda/attention_forward/problem.cuh"
#include "cuda/core/reduce.cuh"

namespace assay::ROOM(attention_forward, weights_by_shuffle) {

using namespace attention_forward_room;

inline constexpr int kEach = 8, kMostChannels = kEach * kWarp;

Legality supports(const attention_forward::Args& a) {
  if (a.q.shape[3] > kMostChannels) return Legality::no("head_dim exceeds 256");
  const Legality masks = only_masks(a);
  return masks ? extents_fit(a) : masks;
}
KERNEL(attention_forward){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_k, kWarp), tile(Axis::head_dim, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .supports = supports,
};

template <class T>
__global__ void attention_forward_weights_by_shuffle(Problem<T> p) {
  const int row = static_cast<int>(blockIdx.x), query = row % p.queries, head = row / p.queries % p.heads;
  const int batch = row / p.queries / p.heads, lane = lane_id(), end = p.visible(query);
  const T* const q = p.q.of(batch, head) + query * p.q.seq;
  const T* const k = p.k.of(batch, head / p.group);
  const T* const v = p.v.of(batch, head / p.group);
  const auto score = [&](int key) {
    float dot = 0;
    for (int c = 0; c < p.dim; ++c) dot = fmaf(to_float(ld(q + c)), to_float(ld(k + key * p.k.seq + c)), dot);
    return dot * p.scale;
  };
  // Note: fmaxf passes over a NaN, which then reaches the sum through its weight.
  float max = -INFINITY, sum = 0, o[kEach] = {};
  for (int key = lane; key < end; key += kWarp) max = fmaxf(max, score(key));
  max = warp_max(max);
  const float base = max == -INFINITY ? 0.0f : max;
  for (int first = 0; first < end; first += kWarp) {
    const float mine = first + lane < end ? expf(score(first + lane) - base) : 0.0f;
    sum += mine;
    for (int j = 0; j < kWarp && first + j < end; ++j) {
      const float weight = shuffle(mine, j);
#pragma unroll
      for (int i = 0; i < kEach; ++i)
        if (lane + i * kWarp < p.dim) o[i] = fmaf(weight, to_float(ld(v + (first + j) * p.v.seq + lane + i * kWarp)), o[i]);
    }
  }
  sum = warp_sum(sum);
  T* const out = p.o.of(batch, head) + query * p.o.seq;
#pragma unroll
  for (int i = 0; i < kEach; ++i)
    if (lane + i * kWarp < p.dim) st(out + lane + i * kWarp, from_float<T>(sum == 0 ? 0.0f : o[i] / sum));
  if (lane == 0) st(p.lse_of(batch, head, query), sum == 0 ? -INFINITY : max + logf(sum));
}

void run(const attention_forward::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a);
    launch(attention_forward_weights_by_shuffle<T>,
           {.grid = dim3(std::int64_t{p.batches} * p.heads * p.queries), .block = dim3(kWarp)}, l.stream, p);
  });
}

}  // namespace assay::ROOM(attention_forward, weights_by_shuffle)
