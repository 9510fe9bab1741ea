// SPDX-License-Identifier: Apache-2.0
// A query a warp, a channel of every 32 a lane, for heads of up to 256 channels: key after key, the score joined by five
// exchanges,
// weights in base two by exp2_approx, whose subnormal results are zero.
#include "cuda/core/reduce.cuh"
#include "cuda/paged_attention/problem.cuh"

namespace assay::ROOM(paged_attention, query_a_warp) {

using namespace paged_attention_room;

inline constexpr int kEach = 8, kMostChannels = kEach * kWarp;

Legality supports(const paged_attention::Args& a) {
  return a.q.shape[3] > kMostChannels ? Legality::no("head_dim exceeds 256") : extents_fit(a);
}
KERNEL(paged_attention){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .flushes_subnormals = true, .rescales = {.lanes = 1}},
    .supports = supports,
};

template <class T>
__global__ void paged_attention_query_a_warp(Problem<T> p, float scale) {
  const int head = static_cast<int>(blockIdx.x % p.heads), query = static_cast<int>(blockIdx.x / p.heads % p.queries);
  const int batch = static_cast<int>(blockIdx.x / p.heads / p.queries), kv_head = head / p.group, lane = lane_id();
  const T* const from = p.q.of(batch, query, head);
  const std::int32_t* const table = p.table_of(batch);
  const int visible = p.visible(ld(p.lengths + batch), query);
  float q[kEach], o[kEach] = {}, max = -INFINITY, sum = 0;
#pragma unroll
  for (int j = 0; j < kEach; ++j) q[j] = lane + j * kWarp < p.dim ? to_float(ld(from + lane + j * kWarp)) : 0.0f;
  for (int key = 0; key < visible; ++key) {
    const std::int64_t page = ld(table + key / p.page_size);
    const T* const k = p.k.of(page, key % p.page_size, kv_head);
    const T* const v = p.v.of(page, key % p.page_size, kv_head);
    float dot = 0;
#pragma unroll
    for (int j = 0; j < kEach; ++j)
      if (lane + j * kWarp < p.dim) dot = fmaf(q[j], to_float(ld(k + lane + j * kWarp)), dot);
    const float s = warp_sum(dot) * scale;  // in base two
    // Note: fmaxf passes over a NaN, which then reaches the sum through its weight.
    const float larger = fmaxf(max, s), base = larger == -INFINITY ? 0.0f : larger;
    const float weight = exp2_approx(s - base);
    if (larger != max) {
      const float shrink = exp2_approx(max - base);
      sum *= shrink;
#pragma unroll
      for (int j = 0; j < kEach; ++j) o[j] *= shrink;
      max = larger;
    }
    sum += weight;
#pragma unroll
    for (int j = 0; j < kEach; ++j)
      if (lane + j * kWarp < p.dim) o[j] = fmaf(weight, to_float(ld(v + lane + j * kWarp)), o[j]);
  }
  T* const out = p.o.of(batch, query, head);
#pragma unroll
  for (int j = 0; j < kEach; ++j)
    if (lane + j * kWarp < p.dim) st(out + lane + j * kWarp, from_float<T>(sum == 0 ? 0.0f : o[j] / sum));
  if (lane == 0) st(p.lse.of(batch, query, head), sum == 0 ? -INFINITY : fmaf(max, 0.6931471805599453f, logf(sum)));
}

void run(const paged_attention::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a);
    launch(paged_attention_query_a_warp<T>, {.grid = dim3(std::int64_t{p.batches} * p.queries * p.heads), .block = dim3(kWarp)},
           l.stream, p, static_cast<float>(a.scale_used() * 1.4426950408889634));
  });
}

}  // namespace assay::ROOM(paged_attention, query_a_warp)
