// SPDX-License-Identifier: Apache-2.0
// Two passes over the keys on tensor cores: the first computes maximum and sum of each query online, the second recomputes the
// scores and writes P, the only output to memory.  A block takes 128 queries of one head (64 for wide heads), whose fragments
// stay in registers, and loops over tiles of 64 keys that cp.async prefetches to swizzled shared memory; P is staged in shared
// memory, so that whole lines are written.
#include "cuda/attention_scores/problem.cuh"

namespace assay::ROOM(attention_scores, mma_tiled) {

inline constexpr int kWarps = 4, kThreads = kWarps * kWarp, kBlocksAnSm = 2;
inline constexpr int kKeys = 64, kTilesN = kKeys / 8;     // keys per tile; 8 per mma
inline constexpr int kAccess = 16, kChunk = kAccess / 2;  // bytes and elements of one cp.async, and of one lane of ldmatrix
inline constexpr int kPChunks = kKeys / kChunk;           // chunks of a row of P in a tile
inline constexpr int kMostDim = 256, kMostKeys = 1 << 30;
inline constexpr int kSmallestTile = 64;  // queries per block for wide heads

Legality supports(const attention_scores::Args& a) {
  if (a.k.shape[1] > kMostKeys) return Legality::no("seq_k exceeds 2^30, the range of the kernel's 32-bit positions");
  if (a.q.shape[3] > kMostDim) return Legality::no("head_dim exceeds 256, the most that fits registers and shared memory");
  return Legality::yes();
}

KERNEL(attention_scores){
    .dtypes = {f16, bf16},
    .min_arch = 80,
    .tiles = {tile(Axis::seq_q, kSmallestTile), tile(Axis::seq_k, kKeys), tile(Axis::head_dim, 16)},
    // A lane adds its 16 keys of a tile pairwise, 4 additions; 1 to the previous tiles, after a rescale; 2 join the four lanes of
    // a row, after one more rescale.
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kKeys, .extra = 4 + 2},
                 .mma_terms = 8,
                 .flushes_subnormals = true,
                 .rescales = {.lanes = kKeys, .extra = 1}},
    .supports = supports,
};

// kDim: head_dim, rounded up to a multiple that has an instance.  kTilesM: m16 tiles of queries per warp.
template <int kDim_, int kTilesM_, int kStages_>
struct Shape {
  static constexpr int kDim = kDim_, kTilesM = kTilesM_, kStages = kStages_;
  static constexpr int kWarpQueries = 16 * kTilesM, kQueries = kWarps * kWarpQueries, kSteps = kDim / 16;
  static constexpr int kQElements = kQueries * kDim, kKElements = kKeys * kDim, kPElements = kQueries * kKeys;
  // Note: a warp stages P over its own queries, which are in registers by then; no other warp uses that memory.
  static constexpr bool kPOverQ = kDim >= kKeys;
  static constexpr int kPBase = kPOverQ ? 0 : kQElements + kStages * kKElements;
  static constexpr int kPWarp = kPOverQ ? kWarpQueries * kDim : kWarpQueries * kKeys;
  static constexpr std::size_t kSharedBytes = 2 * std::size_t{kQElements + kStages * kKElements + (kPOverQ ? 0 : kPElements)};
  static_assert(kSharedBytes <= 99 * 1024, "what an sm_86 or sm_89 block may have, the least from sm_80 on");
  static_assert(kStages >= 2 && kDim % 32 == 0);
};

// The place of a chunk in a tile with rows of kDim elements, swizzled so that eight rows of ldmatrix hit all 32 banks.
template <int kDim>
__device__ inline int swizzled(int row, int chunk) {
  return row * kDim + (chunk ^ (kDim % 64 == 0 ? row & 7 : row >> 1 & 3)) * kChunk;
}

// Loads kRows rows, of which `left` exist, into a tile; zeros beyond the last row and the last channel.
template <int kRows, int kDim, class T>
__device__ inline void load_tile(T* tile, const T* rows, std::int64_t stride, int left, int dim, bool wide) {
  constexpr int kChunks = kDim / kChunk;
  static_assert(kRows * kChunks % kThreads == 0);
#pragma unroll 4
  for (int i = 0; i < kRows * kChunks / kThreads; ++i) {
    const int place = i * kThreads + static_cast<int>(threadIdx.x), row = place / kChunks, chunk = place % kChunks;
    T* const to = tile + swizzled<kDim>(row, chunk);
    const int there = row < left ? dim - chunk * kChunk : 0;  // channels from this chunk on
    const T* const from = there > 0 ? rows + row * stride + chunk * kChunk : rows;
    if (wide) {
      cp_async<kAccess>(to, from, there >= kChunk ? kAccess : there > 0 ? 2 * there : 0);
    } else {
      Vec<T, kChunk> v{};
      for (int j = 0; j < kChunk; ++j)
        if (j < there) v[j] = ld(from + j);
      st(reinterpret_cast<Vec<T, kChunk>*>(to), v);
    }
  }
}

// A lane's share of its warp's queries: rows lane/4 and lane/4 + 8 of each m16 tile.
template <class S>
struct Lane {
  float s[S::kTilesM][kTilesN][4];               // unscaled scores of a tile; element e: row 8 (e/2), key 2 (lane % 4) + e % 2
  float max[S::kTilesM][2], sum[S::kTilesM][2];  // so far; sum of exp((s - max) scale)
  int seen[S::kTilesM][2];                       // keys that are visible to the row
};

__device__ inline float anchor(float max) { return max == -INFINITY ? 0.0f : max; }

// Replaces the scores that the rows do not see, in the tile that starts at key `key`, by `with`.
template <class S>
__device__ inline void hide(Lane<S>& l, int key, float with) {
#pragma unroll
  for (int m = 0; m < S::kTilesM; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int limit = l.seen[m][half] - key;
#pragma unroll
      for (int n = 0; n < kTilesN; ++n)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          if (n * 8 + lane_id() % 4 * 2 + e >= limit) l.s[m][n][half * 2 + e] = with;
    }
}

template <class S, class T>
__device__ inline void multiply(Lane<S>& l, const unsigned (&q)[S::kTilesM][S::kSteps][4], const T* k_tile) {
#pragma unroll
  for (int m = 0; m < S::kTilesM; ++m)
#pragma unroll
    for (int n = 0; n < kTilesN; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) l.s[m][n][e] = 0;
  const int row = lane_id() % 8 + lane_id() / 16 * 8, half = lane_id() / 8 % 2;
#pragma unroll
  for (int step = 0; step < S::kSteps; ++step)
#pragma unroll
    for (int n = 0; n < kTilesN; n += 2) {
      unsigned k[4];
      ldmatrix<4>(k, k_tile + swizzled<S::kDim>(n * 8 + row, step * 2 + half));
      const unsigned left[2] = {k[0], k[1]}, right[2] = {k[2], k[3]};
#pragma unroll
      for (int m = 0; m < S::kTilesM; ++m) {
        mma_m16n8k16<T>(l.s[m][n], q[m][step], left);
        mma_m16n8k16<T>(l.s[m][n + 1], q[m][step], right);
      }
    }
}

// First pass: adds the tile to maximum and sum.
template <class S>
__device__ inline void accumulate(Lane<S>& l, float to_log2) {
#pragma unroll
  for (int m = 0; m < S::kTilesM; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float larger = l.max[m][half];
#pragma unroll
      for (int n = 0; n < kTilesN; ++n) larger = fmaxf(larger, fmaxf(l.s[m][n][half * 2], l.s[m][n][half * 2 + 1]));
      const float at = anchor(larger);
      float part[kTilesN];
#pragma unroll
      for (int n = 0; n < kTilesN; ++n)
        part[n] = exp2_approx((l.s[m][n][half * 2] - at) * to_log2) + exp2_approx((l.s[m][n][half * 2 + 1] - at) * to_log2);
#pragma unroll
      for (int width = kTilesN / 2; width > 0; width /= 2)
#pragma unroll
        for (int n = 0; n < width; ++n) part[n] += part[n + width];
      l.sum[m][half] = fmaf(l.sum[m][half], exp2_approx((l.max[m][half] - at) * to_log2), part[0]);
      l.max[m][half] = larger;
    }
}

// Between the passes: combines the four lanes of a row; sum becomes 1 / sum, or 0 if no key is visible.
template <class S>
__device__ inline void agree(Lane<S>& l, float to_log2) {
#pragma unroll
  for (int m = 0; m < S::kTilesM; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float& max = l.max[m][half];
      float& sum = l.sum[m][half];
      float all = fmaxf(max, shuffle_xor(max, 1));
      all = anchor(fmaxf(all, shuffle_xor(all, 2)));
      sum *= exp2_approx((max - all) * to_log2);
      sum += shuffle_xor(sum, 1);
      sum += shuffle_xor(sum, 2);
      max = all;
      sum = sum == 0 ? 0.0f : 1.0f / sum;
    }
}

// The rows of P that a warp writes, 16 bytes at a time if aligned.
template <class T>
struct Output {
  T* first;  // row 0, key 0
  std::int64_t stride;
  int keys, rows;
  bool wide;
  __device__ void store(int row, int key, const Vec<T, kChunk>& v) const {
    if (row >= rows || key >= keys) return;
    T* const to = first + row * stride + key;
    if (wide && key + kChunk <= keys) {
      st(reinterpret_cast<Vec<T, kChunk>*>(to), v);
    } else {
      for (int j = 0; j < kChunk; ++j)
        if (key + j < keys) st(to + j, v[j]);
    }
  }
};

// Second pass: writes P of the tile that begins at `key`, through the warp's `stage`.
template <class S, class T>
__device__ inline void write(Lane<S>& l, const Output<T>& p, T* stage, int key, bool whole, float to_log2) {
#pragma unroll
  for (int m = 0; m < S::kTilesM; ++m)
#pragma unroll
    for (int n = 0; n < kTilesN; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        float& v = l.s[m][n][e];
        v = exp2_approx((v - l.max[m][e / 2]) * to_log2) * l.sum[m][e / 2];
      }
  if (!whole) hide(l, key, 0.0f);

  const int row = lane_id() / 4, within = lane_id() % 4 * 2;
#pragma unroll
  for (int m = 0; m < S::kTilesM; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int n = 0; n < kTilesN; ++n)
        st(reinterpret_cast<unsigned*>(stage + swizzled<kKeys>(m * 16 + half * 8 + row, n) + within),
           pack<T>(l.s[m][n][half * 2], l.s[m][n][half * 2 + 1]));
  sync_warp();
  const int chunk = lane_id() % kPChunks;
#pragma unroll
  for (int r = 0; r < S::kWarpQueries; r += kWarp / kPChunks) {
    const int mine = r + lane_id() / kPChunks;
    p.store(mine, key + chunk * kChunk, ld(reinterpret_cast<const Vec<T, kChunk>*>(stage + swizzled<kKeys>(mine, chunk))));
  }
  sync_warp();
}

template <class T, class S>
__global__ void __launch_bounds__(kThreads, kBlocksAnSm) attention_scores_mma_tiled(Problem<T> m, bool wide_in, bool wide_out) {
  T* const q_tile = shared_memory<T>();
  T* const k_tiles = q_tile + S::kQElements;
  T* const stage = q_tile + S::kPBase + warp_id() * S::kPWarp;

  // Tiles of one head are adjacent, so that its keys stay in L2; the last tiles, which see most keys, start first.
  const std::int64_t q_tiles = ceil_div(m.seq_q, S::kQueries), of_head = blockIdx.x % q_tiles, pair = blockIdx.x / q_tiles;
  const int head = static_cast<int>(pair % m.heads);
  const std::int64_t batch = pair / m.heads, first = (q_tiles - 1 - of_head) * S::kQueries;
  const std::int64_t last = first + S::kQueries < m.seq_q ? first + S::kQueries - 1 : m.seq_q - 1;
  const int keys = static_cast<int>(m.seq_k), tiles = static_cast<int>(ceil_div(m.visible(last), kKeys));
  const std::int64_t mine = first + warp_id() * S::kWarpQueries;  // the warp's first query
  const int left = static_cast<int>(last - mine) + 1, rows = left < 0 ? 0 : left < S::kWarpQueries ? left : S::kWarpQueries;
  // Number of key tiles that its queries see; and of those that all of them see entirely.
  const int seen = rows ? static_cast<int>(ceil_div(m.visible(mine + rows - 1), kKeys)) : 0;
  const int whole = static_cast<int>(m.visible(mine)) / kKeys;

  const T* const k = m.k.at(batch, 0, head / m.group);
  const std::int64_t k_stride = m.k.stride[1];
  const auto load_keys = [&](int step) {  // step of 2 * tiles
    if (step < 2 * tiles) {
      const int key = (step < tiles ? step : step - tiles) * kKeys;
      load_tile<kKeys, S::kDim>(k_tiles + step % S::kStages * S::kKElements, k + key * k_stride, k_stride, keys - key, m.dim,
                                wide_in);
    }
    cp_async_commit();
  };
  load_tile<S::kQueries, S::kDim>(q_tile, m.q.at(batch, first, head), m.q.stride[1], static_cast<int>(last - first) + 1, m.dim,
                                  wide_in);
#pragma unroll
  for (int step = 0; step < S::kStages - 1; ++step) load_keys(step);

  // Zeros for keys that no query of the warp sees.
  const Output<T> p{m.p.at(batch, head, mine), m.p.stride[2], keys, rows, wide_out};
  for (int row = 0; row < rows; ++row)
    for (int key = seen * kKeys + lane_id() * kChunk; key < keys; key += kWarp * kChunk) p.store(row, key, {});

  Lane<S> l;
#pragma unroll
  for (int t = 0; t < S::kTilesM; ++t)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      l.max[t][half] = -INFINITY;
      l.sum[t][half] = 0;
      l.seen[t][half] = static_cast<int>(m.visible(mine + t * 16 + half * 8 + lane_id() / 4));
    }

  unsigned q[S::kTilesM][S::kSteps][4];
  const float to_log2 = m.scale * 1.4426950408889634f;
  for (int step = 0; step < 2 * tiles; ++step) {
    cp_async_wait<S::kStages - 2>();
    sync_block();
    if (step == 0) {
#pragma unroll
      for (int t = 0; t < S::kTilesM; ++t)
#pragma unroll
        for (int i = 0; i < S::kSteps; ++i)
          ldmatrix<4>(q[t][i],
                      q_tile + swizzled<S::kDim>(warp_id() * S::kWarpQueries + t * 16 + lane_id() % 16, i * 2 + lane_id() / 16));
    }
    load_keys(step + S::kStages - 1);
    if (step == tiles) agree(l, to_log2);
    const int at = step < tiles ? step : step - tiles;
    if (at >= seen) continue;
    multiply(l, q, k_tiles + step % S::kStages * S::kKElements);
    if (step >= tiles) {
      write(l, p, stage, at * kKeys, at < whole, to_log2);
    } else {
      if (at >= whole) hide(l, at * kKeys, -INFINITY);
      accumulate(l, to_log2);
    }
  }
}

template <class T, class S>
void run_shape(const attention_scores::Args& a, const Launch& l) {
  const Problem<T> m = problem<T>(a);
  launch(attention_scores_mma_tiled<T, S>,
         {.grid = dim3(ceil_div(m.seq_q, S::kQueries) * m.batch * m.heads),
          .block = dim3(kThreads),
          .shared_bytes = S::kSharedBytes},
         l.stream, m, a.q.rows_aligned(kAccess) && a.k.rows_aligned(kAccess), a.p.rows_aligned(kAccess));
}

template <class T>
void run_type(const attention_scores::Args& a, const Launch& l) {
  const std::int64_t dim = a.q.shape[3];
  if (dim <= 32) return run_shape<T, Shape<32, 2, 3>>(a, l);
  if (dim <= 64) return run_shape<T, Shape<64, 2, 3>>(a, l);
  if (dim <= 96) return run_shape<T, Shape<96, 2, 3>>(a, l);
  if (dim <= 128) return run_shape<T, Shape<128, 2, 3>>(a, l);
  if (dim <= 192) return run_shape<T, Shape<192, 1, 3>>(a, l);
  return run_shape<T, Shape<256, 1, 2>>(a, l);
}

void run(const attention_scores::Args& a, const Launch& l) {
  if (a.p.size() == 0) return;
  a.q.dtype == f16 ? run_type<half>(a, l) : run_type<bfloat16>(a, l);
}

}  // namespace assay::ROOM(attention_scores, mma_tiled)
