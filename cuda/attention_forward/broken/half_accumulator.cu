// SPDX-License-Identifier: Apache-2.0
// FAULT: the output is summed up in the storage dtype; the declaration says f32.
// Caught by: the bound on random fills; infinities where V is large.
#include "cuda/attention_forward/problem.cuh"

namespace assay::ROOM(attention_forward, half_accumulator) {

inline constexpr int kQueries = 32, kKeys = 32, kMostChannels = 64;

Legality supports(const attention_forward::Args& a) {
  if (a.q.shape[3] > kMostChannels) return Legality::no("head_dim exceeds 64");
  return extents_fit(a);
}

KERNEL(attention_forward){
    .dtypes = {f16, bf16},
    .least_arch = 80,
    .tiles = {tile(Axis::seq_q, kQueries), tile(Axis::seq_k, kKeys)},
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = 1},
                 .rescales = {.lanes = kKeys}},
    .supports = supports,
};

// One thread a query, K and V in tiles of 32 keys that the block shares.
template <class T>
__global__ void __launch_bounds__(kQueries) attention_forward_half_accumulator(Problem<T> p, int query_tiles) {
  const int tile = static_cast<int>(blockIdx.x) % query_tiles, all = static_cast<int>(blockIdx.x) / query_tiles;
  const int batch = all / p.heads, head = all % p.heads, thread = static_cast<int>(threadIdx.x);
  const int query = tile * kQueries + thread, last = (tile + 1) * kQueries < p.queries ? (tile + 1) * kQueries : p.queries;
  const int visible = p.visible(query), keys = p.visible(last - 1);
  const T* const q = p.q.of(batch, head) + query * p.q.seq;
  const T* const k = p.k.of(batch, head / p.group);
  const T* const v = p.v.of(batch, head / p.group);
  T* const k_tile = shared_memory<T>();
  T* const v_tile = shared_memory<T>(kKeys * kMostChannels * sizeof(T));

  T o[kMostChannels];
  for (T& sum_so_far : o) sum_so_far = from_float<T>(0);
  float max = -INFINITY, sum = 0;
  for (int first = 0; first < keys; first += kKeys) {
    // A row of either tile a thread.
    sync_block();
    const int key = first + thread;
    for (int c = 0; c < p.dim; ++c) {
      st(k_tile + thread * kMostChannels + c, key < p.keys ? ld(k + key * p.k.seq + c) : from_float<T>(0));
      st(v_tile + thread * kMostChannels + c, key < p.keys ? ld(v + key * p.v.seq + c) : from_float<T>(0));
    }
    sync_block();
    if (query >= p.queries) continue;

    float s[kKeys], larger = max;
    for (int i = 0; i < kKeys; ++i) {
      float dot = 0;
      for (int c = 0; c < p.dim; ++c) dot = fmaf(to_float(ld(q + c)), to_float(ld(k_tile + i * kMostChannels + c)), dot);
      s[i] = first + i < visible ? dot * p.scale : -INFINITY;
      larger = fmaxf(larger, s[i]);
    }
    const float base = larger == -INFINITY ? 0.0f : larger, shrink = expf(max - base);
    max = larger, sum *= shrink;
    for (int c = 0; c < p.dim; ++c) o[c] = from_float<T>(to_float(o[c]) * shrink);
    for (int i = 0; i < kKeys && first + i < visible; ++i) {
      const float weight = expf(s[i] - base);
      sum += weight;
      for (int c = 0; c < p.dim; ++c) {
        const float v_c = to_float(ld(v_tile + i * kMostChannels + c));
        o[c] = from_float<T>(fmaf(weight, v_c, to_float(o[c])));
      }
    }
  }
  if (query >= p.queries) return;

  T* const out = p.o.of(batch, head) + query * p.o.seq;
  for (int c = 0; c < p.dim; ++c) st(out + c, from_float<T>(sum == 0 ? 0.0f : to_float(o[c]) / sum));
  st(p.lse.of(batch, head) + query * p.lse.seq, sum == 0 ? -INFINITY : max + logf(sum));
}

void run(const attention_forward::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_half_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a);
    const std::int64_t query_tiles = ceil_div(p.queries, kQueries);
    launch(attention_forward_half_accumulator<T>,
           {.grid = dim3(query_tiles * p.heads * p.batches),
            .block = dim3(kQueries),
            .shared_bytes = 2 * kKeys * kMostChannels * sizeof(T)},
           l.stream, p, query_tiles);
  });
}

}  // namespace assay::ROOM(attention_forward, half_accumulator)
