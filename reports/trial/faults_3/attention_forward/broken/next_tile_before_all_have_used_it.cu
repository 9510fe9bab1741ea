// SPDX-License-Identifier: Apache-2.0
// FAULT: K and V go through shared memory in tiles of 32 keys, and a block of two warps loads the next tile without waiting for
// both.
// Kind: concurrency
// Shows: more than 32 visible keys with more than 32 queries.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, next_tile_before_all_have_used_it) {

inline constexpr int kQueries = 64, kKeys = 32, kMostDim = 128;

Legality supports(const attention_forward::Args& a) {
  if (a.q.shape[3] > kMostDim) return Legality::no("head_dim exceeds 128");
  const Legality fits = extents_fit(a);
  return fits ? only_masks(a) : fits;
}

template <class T>
__global__ void __launch_bounds__(kQueries) attention_forward_two_warps(Problem<T> p, int query_blocks) {
  const int tile = static_cast<int>(blockIdx.x) % query_blocks, all = static_cast<int>(blockIdx.x) / query_blocks;
  const int head = all % p.heads, batch = all / p.heads, thread = static_cast<int>(threadIdx.x);
  const int query = tile * kQueries + thread, threads = static_cast<int>(blockDim.x);
  const bool there = query < p.queries;
  float* const ks = shared_memory<float>();
  float* const vs = ks + kKeys * p.dim;
  const T* const k = p.k.of(batch, head / p.group);
  const T* const v = p.v.of(batch, head / p.group);
  const T* const q = p.q.of(batch, head) + (there ? query : 0) * p.q.seq;
  const int visible = there ? p.visible(query) : 0;

  float o[kMostDim] = {}, max = -INFINITY, sum = 0;
  for (int first = 0; first < p.keys; first += kKeys) {
    const int count = p.keys - first < kKeys ? p.keys - first : kKeys;
    for (int i = thread; i < count * p.dim; i += threads) {
      const int key = first + i / p.dim, c = i % p.dim;
      st(ks + i, to_float(ld(k + key * p.k.seq + c)));
      st(vs + i, to_float(ld(v + key * p.v.seq + c)));
    }
    sync_block();
    for (int j = 0; j < count && first + j < visible; ++j) {
      float dot = 0;
      for (int c = 0; c < p.dim; ++c) dot = fmaf(to_float(ld(q + c)), ld(ks + j * p.dim + c), dot);
      const float s = dot * p.scale, larger = fmaxf(max, s), base = larger == -INFINITY ? 0.0f : larger;
      const float weight = expf(s - base);
      if (larger != max) {
        const float shrink = expf(max - base);
        sum *= shrink;
        for (int c = 0; c < p.dim; ++c) o[c] *= shrink;
        max = larger;
      }
      sum += weight;
      for (int c = 0; c < p.dim; ++c) o[c] = fmaf(weight, ld(vs + j * p.dim + c), o[c]);
    }
    sync_warp();
  }
  if (!there) return;
  T* const out = p.o.of(batch, head) + query * p.o.seq;
  for (int c = 0; c < p.dim; ++c) st(out + c, from_float<T>(sum == 0 ? 0.0f : o[c] / sum));
  st(p.lse_of(batch, head, query), sum == 0 ? -INFINITY : max + logf(sum));
}

KERNEL(attention_forward){.dtypes = kEveryType,
                          .tiles = {tile(Axis::seq_q, kQueries), tile(Axis::seq_k, kKeys)},
                          .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .rescales = {.lanes = 1}},
                          .supports = supports};

void run(const attention_forward::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a);
    const std::int64_t query_blocks = ceil_div(p.queries, kQueries);
    launch(attention_forward_two_warps<T>,
           {.grid = dim3(query_blocks * p.heads * p.batches), .block = dim3(p.queries <= kWarp ? kWarp : kQueries),
            .shared_bytes = static_cast<std::size_t>(2 * kKeys * p.dim) * sizeof(float)},
           l.stream, p, static_cast<int>(query_blocks));
  });
}

}  // namespace assay::ROOM(attention_forward, next_tile_before_all_have_used_it)
