// SPDX-License-Identifier: Apache-2.0
// The steps of flash attention at its plainest, the family "tiled" (core/kernel_family.cuh): one thread a query, K and V in tiles
// that the block shares, the softmax kept up from tile to tile.
#pragma once

#include "cuda/attention_forward/problem.cuh"
#include "cuda/core/kernel_family.cuh"

namespace assay::ASSAY_FLAVOUR::attention_forward_room {

inline constexpr int kTiledKeys = 32, kTiledChannels = 64;  // of a tile; as many queries a block as keys

inline Legality fits_rotated_tiles(const attention_forward::Args& a) {
  if (a.q.shape[3] > kTiledChannels) return Legality::no("head_dim exceeds 64");
  const Legality fits = extents_fit(a);
  return fits ? not_packed(a) : fits;
}
inline Legality fits_tiles(const attention_forward::Args& a) {
  const Legality rotated = without_rope(a);
  return rotated ? fits_rotated_tiles(a) : rotated;
}

// The keys and values of one batch and head, and where a block keeps a tile of them.
template <class T>
struct TilePair {
  const T *k, *v;      // [keys, dim], p.k.seq and p.v.seq apart
  T *k_tile, *v_tile;  // [tile, kTiledChannels], shared
};

// Every step as it should be.
template <class T>
struct Tiled {
  static constexpr int kTile = kTiledKeys, kLeastArch = 75;
  static constexpr bool kRotated = false;  // held to how q and k are rotated
  static Legality supports(const attention_forward::Args& a) { return fits_tiles(a); }

  static __device__ bool has_tile(int first, int keys) { return first < keys; }
  // Nobody reads the last tile any more.
  static __device__ void release() { sync_block(); }
  // Row `row` of either tile; zeros beyond the last key.
  static __device__ void load(const Problem<T>& p, const TilePair<T>& t, int key, int row) {
    for (int c = 0; c < p.dim; ++c) {
      st(t.k_tile + row * kTiledChannels + c, key < p.keys ? ld(t.k + key * p.k.seq + c) : from_float<T>(0));
      st(t.v_tile + row * kTiledChannels + c, key < p.keys ? ld(t.v + key * p.v.seq + c) : from_float<T>(0));
    }
  }
  // What the thread has loaded is there.
  static __device__ void arrived(int /*first*/) {}

  // Of a query and row `row` of the tile of keys from `first` on.
  static __device__ float dot(const Problem<T>& p, const T* q, const T* k, int query, int first, int row) {
    return rotated_dot(p.rope, p.dim, q, k, p.place(query), first + row);
  }
  static __device__ bool visible(const Problem<T>& p, int query, int key) {
    return key >= p.first_visible(query) && key < p.visible(query);
  }
  static __device__ bool weighed(bool visible) { return visible; }
  static __device__ float maximum_before(float max) { return max; }
  static __device__ float shrink(float max, float base) { return expf(max - base); }
};

template <class T>
struct TurnedTiles : Tiled<T> {
  static constexpr bool kRotated = true;
  static Legality supports(const attention_forward::Args& a) { return fits_rotated_tiles(a); }
};

template <class T, class S>
__global__ void __launch_bounds__(S::kTile) attention_forward_tiled(Problem<T> p, int query_tiles) {
  constexpr int kTile = S::kTile;
  const int tile = static_cast<int>(blockIdx.x) % query_tiles, all = static_cast<int>(blockIdx.x) / query_tiles;
  const int batch = all / p.heads, head = all % p.heads, thread = static_cast<int>(threadIdx.x);
  const int query = tile * kTile + thread, last = (tile + 1) * kTile < p.queries ? (tile + 1) * kTile : p.queries;
  const int keys = p.visible(last - 1);
  const T* const q = p.q.of(batch, head) + query * p.q.seq;
  const TilePair<T> t{p.k.of(batch, head / p.group), p.v.of(batch, head / p.group), shared_memory<T>(),
                      shared_memory<T>(kTile * kTiledChannels * sizeof(T))};

  float o[kTiledChannels] = {}, max = -INFINITY, sum = 0;
  for (int first = 0; S::has_tile(first, keys); first += kTile) {
    // A row of either tile a thread.
    S::release();
    S::load(p, t, first + thread, thread);
    S::arrived(first);
    sync_block();
    if (query >= p.queries) continue;

    float s[kTile], larger = S::maximum_before(max);
    for (int i = 0; i < kTile; ++i) {
      const float dot = S::dot(p, q, t.k_tile + i * kTiledChannels, query, first, i);
      const float scaled = dot * p.scale, capped = p.cap > 0 ? p.cap * tanhf(scaled / p.cap) : scaled;
      s[i] = S::visible(p, query, first + i) ? capped : -INFINITY;
      larger = fmaxf(larger, s[i]);
    }
    const float base = larger == -INFINITY ? 0.0f : larger, shrink = S::shrink(max, base);
    max = larger;
    sum *= shrink;
    for (int c = 0; c < p.dim; ++c) o[c] *= shrink;
    for (int i = 0; i < kTile; ++i) {
      if (!S::weighed(S::visible(p, query, first + i))) continue;
      const float weight = expf(s[i] - base);
      sum += weight;
      for (int c = 0; c < p.dim; ++c) o[c] = fmaf(weight, to_float(ld(t.v_tile + i * kTiledChannels + c)), o[c]);
    }
  }
  if (query >= p.queries) return;

  T* const out = p.o.of(batch, head) + query * p.o.seq;
  for (int c = 0; c < p.dim; ++c) st(out + c, from_float<T>(sum == 0 ? 0.0f : o[c] / sum));
  st(p.lse.of(batch, head) + query * p.lse.seq, sum == 0 ? -INFINITY : max + logf(sum));
}

template <template <class> class S>
constexpr KernelTraits<attention_forward> tiled_traits() {
  constexpr int kTile = S<half>::kTile;
  constexpr bool kRotated = S<half>::kRotated;
  return {.dtypes = {f16, bf16},
          .min_arch = S<half>::kLeastArch,
          .tiles = {tile(Axis::seq_q, kTile), tile(Axis::seq_k, kTile)},
          .numerics = {.accumulate = f32,
                       .chain = {.lanes = 1},
                       .angle_error = kRotated ? kAngleError : Numerics{}.angle_error,
                       .reduced_angle_error = kRotated ? kReducedAngleError : Numerics{}.reduced_angle_error,
                       .rescales = {.lanes = kTile}},
          .supports = S<half>::supports};
}

template <template <class> class S>
void run_tiled(const attention_forward::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_half_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a);
    const std::int64_t query_tiles = ceil_div(p.queries, S<T>::kTile);
    launch(attention_forward_tiled<T, S<T>>,
           {.grid = dim3(query_tiles * p.heads * p.batches),
            .block = dim3(S<T>::kTile),
            .shared_bytes = 2 * S<T>::kTile * kTiledChannels * sizeof(T)},
           l.stream, p, query_tiles);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::attention_forward_room
