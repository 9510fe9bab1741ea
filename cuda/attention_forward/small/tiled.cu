// SPDX-License-Identifier: Apache-2.0
// Flash attention at its plainest: one thread a query, K and V in tiles that the block shares, the softmax kept up from tile to
// tile.
#include "cuda/attention_forward/problem.cuh"

namespace assay::ROOM(attention_forward, tiled) {

constexpr int kTile = 32, kChannels = 64;  // keys of a tile, and queries of a block; room for channels

Legality fits_tiles(const attention_forward::Args& a) {
  if (a.q.shape[3] > kChannels) return Legality::no("head_dim exceeds 64");
  const Legality fits = extents_fit(a);
  return fits ? not_packed(a) : fits;
}

KERNEL(attention_forward){
    .dtypes = {f16, bf16},
    .min_arch = 75,
    .tiles = {tile(Axis::seq_q, kTile), tile(Axis::seq_k, kTile)},
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = 1},
                 .angle_error = kAngleError,
                 .reduced_angle_error = kReducedAngleError,
                 .rescales = {.lanes = kTile}},
    .supports = fits_tiles,
};

template <class T>
__global__ void __launch_bounds__(kTile) attention_forward_tiled(Problem<T> p, int query_tiles) {
  const int tile = static_cast<int>(blockIdx.x) % query_tiles, all = static_cast<int>(blockIdx.x) / query_tiles;
  const int batch = all / p.heads, head = all % p.heads, thread = static_cast<int>(threadIdx.x);
  const int query = tile * kTile + thread, last = (tile + 1) * kTile < p.queries ? (tile + 1) * kTile : p.queries;
  const int keys = p.visible(last - 1);
  const T* const q = p.q.of(batch, head) + query * p.q.seq;
  const T* const k = p.k.of(batch, head / p.group);  // [keys, dim]
  const T* const v = p.v.of(batch, head / p.group);
  T* const k_tile = shared_memory<T>();  // [tile, kChannels]
  T* const v_tile = shared_memory<T>(kTile * kChannels * sizeof(T));
  const auto visible = [&](int key) { return key >= p.first_visible(query) && key < p.visible(query); };

  float o[kChannels] = {}, max = -INFINITY, sum = 0;
  for (int first = 0; first < keys; first += kTile) {
    sync_block();  // nobody reads the last tile any more
    // A row of either tile a thread; zeros beyond the last key.
    const int key = first + thread;
    for (int c = 0; c < p.dim; ++c) {
      st(k_tile + thread * kChannels + c, key < p.keys ? ld(k + key * p.k.seq + c) : from_float<T>(0));
      st(v_tile + thread * kChannels + c, key < p.keys ? ld(v + key * p.v.seq + c) : from_float<T>(0));
    }
    sync_block();
    if (query >= p.queries) continue;

    float s[kTile], larger = max;
    for (int i = 0; i < kTile; ++i) {
      const float dot = rotated_dot(p.rope, p.dim, q, k_tile + i * kChannels, p.place(query), first + i);
      const float scaled = dot * p.scale, capped = p.cap > 0 ? p.cap * tanhf(scaled / p.cap) : scaled;
      s[i] = visible(first + i) ? capped : -INFINITY;
      larger = fmaxf(larger, s[i]);
    }
    const float base = larger == -INFINITY ? 0.0f : larger, shrink = expf(max - base);
    max = larger;
    sum *= shrink;
    for (int c = 0; c < p.dim; ++c) o[c] *= shrink;
    for (int i = 0; i < kTile; ++i) {
      if (!visible(first + i)) continue;
      const float weight = expf(s[i] - base);
      sum += weight;
      for (int c = 0; c < p.dim; ++c) o[c] = fmaf(weight, to_float(ld(v_tile + i * kChannels + c)), o[c]);
    }
  }
  if (query >= p.queries) return;

  T* const out = p.o.of(batch, head) + query * p.o.seq;
  for (int c = 0; c < p.dim; ++c) st(out + c, from_float<T>(sum == 0 ? 0.0f : o[c] / sum));
  st(p.lse.of(batch, head) + query * p.lse.seq, sum == 0 ? -INFINITY : max + logf(sum));
}

void run(const attention_forward::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_half_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a);
    const std::int64_t query_tiles = ceil_div(p.queries, kTile);
    launch(attention_forward_tiled<T>,
           {.grid = dim3(query_tiles * p.heads * p.batches),
            .block = dim3(kTile),
            .shared_bytes = 2 * kTile * kChannels * sizeof(T)},
           l.stream, p, query_tiles);
  });
}

}  // namespace assay::ROOM(attention_forward, tiled)
