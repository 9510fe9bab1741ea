// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum that the output is divided by is of the weights as 16-bit storage has them, while the products with V take
// them in f32.
// Kind: precision
// Shows: f16 or bf16, few keys of unlike scores; L shows it too.
#include "cuda/attention_forward/problem.cuh"
#include "cuda/core/reduce.cuh"

namespace assay::ROOM(attention_forward, sum_of_rounded_weights) {

inline constexpr int kWarps = 4, kMostDim = 256;

Legality fits(const attention_forward::Args& a) {
  if (a.q.shape[3] > kMostDim) return Legality::no("a head has more than 256 channels");
  const Legality masks = only_masks(a);
  return masks ? extents_fit(a) : masks;
}

// A warp a query: 32 keys at a time, one a lane, then every 32nd channel of the output a lane.
template <class T>
__global__ void attend_by_warp(Problem<T> p) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (row >= static_cast<std::int64_t>(p.batches) * p.heads * p.queries) return;
  const int query = static_cast<int>(row % p.queries), head = static_cast<int>(row / p.queries % p.heads);
  const int batch = static_cast<int>(row / p.queries / p.heads), kv = head / p.group, lane = lane_id();
  const T* const q = p.q.of(batch, head) + query * p.q.seq;
  float o[kMostDim / kWarp] = {}, max = -INFINITY, sum = 0;
  const int visible = p.visible(query);
  for (int first = 0; first < visible; first += kWarp) {
    const int key = first + lane;
    float s = -INFINITY;
    if (key < visible) {
      const T* const k = p.k.of(batch, kv) + key * p.k.seq;
      s = 0;
      for (int c = 0; c < p.dim; ++c) s = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), s);
      s *= p.scale;
    }
    const float larger = fmaxf(max, warp_max(s)), base = larger == -INFINITY ? 0.0f : larger;
    const float shrink = expf(max - base), weight = key < visible ? expf(s - base) : 0.0f;
    max = larger;
    sum = sum * shrink + warp_sum(to_float(from_float<T>(weight)));
    const int count = visible - first < kWarp ? visible - first : kWarp;
#pragma unroll
    for (int i = 0; i < kMostDim / kWarp; ++i) o[i] *= shrink;
    for (int j = 0; j < count; ++j) {
      const float w = shuffle(weight, j);
      const T* const v = p.v.of(batch, kv) + (first + j) * p.v.seq;
#pragma unroll
      for (int i = 0; i < kMostDim / kWarp; ++i)
        if (i * kWarp + lane < p.dim) o[i] = fmaf(w, to_float(ld(v + i * kWarp + lane)), o[i]);
    }
  }
  T* const out = p.o.of(batch, head) + query * p.o.seq;
#pragma unroll
  for (int i = 0; i < kMostDim / kWarp; ++i)
    if (i * kWarp + lane < p.dim) st(out + i * kWarp + lane, from_float<T>(sum == 0 ? 0.0f : o[i] / sum));
  if (lane == 0) st(p.lse_of(batch, head, query), sum == 0 ? -INFINITY : max + logf(sum));
}

KERNEL(attention_forward){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kWarps), tile(Axis::seq_k, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .rescales = {.lanes = kWarp}},
    .supports = fits,
};

void run(const attention_forward::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a);
    const std::int64_t rows = static_cast<std::int64_t>(p.batches) * p.heads * p.queries;
    launch(attend_by_warp<T>, {.grid = dim3(ceil_div(rows, kWarps)), .block = dim3(kWarps * kWarp)}, l.stream, p);
  });
}

}  // namespace assay::ROOM(attention_forward, sum_of_rounded_weights)
