// SPDX-License-Identifier: Apache-2.0
// Attention on tensor cores, one warp's part: kTilesM x 16 queries against tiles of kKeys keys, with an online softmax
// (FlashAttention: Dao et al. 2022, arXiv 2205.14135).  Scores and output stay in registers as mma accumulators; the scores'
// accumulators have the layout of the next product's A fragments.  Element e of an accumulator tile is row g + 8 (e / 2), column
// 2t + e % 2, where g = lane / 4, t = lane % 4.
#pragma once

#include "cuda/attention_forward/problem.cuh"
#include "cuda/core/exponential.cuh"
#include "cuda/core/head_tile.cuh"

namespace assay::ASSAY_FLAVOUR::attention_forward_room {

using namespace head_tile;

struct Mma16 {  // sm_80
  template <class T>
  __device__ static void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    const unsigned b[2] = {b0, b1};
    mma_m16n8k16<T>(c, a, b);
  }
};
struct Mma8 {  // sm_75
  template <class T>
  __device__ static void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    const unsigned low[2] = {a[0], a[1]}, high[2] = {a[2], a[3]}, b_low[1] = {b0}, b_high[1] = {b1};
    mma_m16n8k8<T>(c, low, b_low);
    mma_m16n8k8<T>(c, high, b_high);
  }
};

// kGeneral: with a window, a softcap or packed sequences.
template <class T, class Mma, int kDim, int kTilesM, int kKeys, bool kGeneral = false>
struct Flash {
  using Tile = Rows128<kDim>;
  static constexpr int kQueries = kTilesM * 16;
  float o[kTilesM][kDim / 8][4];           // not yet divided by the sum
  float max[kTilesM][2], sum[kTilesM][2];  // rows g and g + 8: the maximum of unscaled scores; the sum of this lane's columns
  using Scores = float[kTilesM][kKeys / 8][4];

  __device__ void start() {
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
      for (int n = 0; n < kDim / 8; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) o[i][n][e] = 0;
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        max[i][h] = -INFINITY;
        sum[i][h] = 0;
      }
    }
  }

  // s = Q K^T.  `q`: the first row of the warp.
  __device__ static void multiply_keys(Scores& s, const T* q, const T* k) {
    const int lane = fresh(lane_id());
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
      for (int n = 0; n < kKeys / 8; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) s[i][n][e] = 0;
#pragma unroll
    for (int step = 0; step < kDim / 16; ++step) {
      unsigned a[kTilesM][4];
#pragma unroll
      for (int i = 0; i < kTilesM; ++i) ldmatrix<4>(a[i], q + Tile::place(i * 16 + lane % 16, 2 * step + lane / 16));
#pragma unroll
      for (int n = 0; n < kKeys / 16; ++n) {
        unsigned b[4];
        ldmatrix<4>(b, k + Tile::place(n * 16 + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));
#pragma unroll
        for (int i = 0; i < kTilesM; ++i) {
          Mma::template multiply<T>(s[i][2 * n], a[i], b[0], b[1]);
          Mma::template multiply<T>(s[i][2 * n + 1], a[i], b[2], b[3]);
        }
      }
    }
  }

  // Sets the scores of hidden keys to -inf.
  __device__ static void mask(Scores& s, const Problem<T>& p, int first_query, int first_key) {
    const int lane = fresh(lane_id());
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int query = first_query + i * 16 + h * 8 + lane / 4, column = first_key + lane % 4 * 2;
        const int seen = p.visible(query) - column, unseen = kGeneral ? p.first_visible(query) - column : 0;
#pragma unroll
        for (int n = 0; n < kKeys / 8; ++n)
#pragma unroll
          for (int e = 0; e < 2; ++e)
            if (n * 8 + e >= seen || (kGeneral && n * 8 + e < unseen)) s[i][n][2 * h + e] = -INFINITY;
      }
  }

  // Replaces unscaled scores s by cap tanh(scale s / cap).
  __device__ static void limit(Scores& s, float scale, float cap) {
    const float factor = scale / cap;
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
      for (int n = 0; n < kKeys / 8; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) s[i][n][e] = cap * tanhf(s[i][n][e] * factor);
  }

  // Replaces scores by weights exp(scale (s - max)) and rescales sum and output to the new maximum.  c = scale log2(e).
  // Note: fmaxf ignores a NaN, which still reaches the sum through its weight.
  __device__ void weigh(Scores& s, float c) {
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float larger = max[i][h];
#pragma unroll
        for (int n = 0; n < kKeys / 8; ++n) larger = fmaxf(larger, fmaxf(s[i][n][2 * h], s[i][n][2 * h + 1]));
        larger = fmaxf(larger, shuffle_xor(larger, 1));
        larger = fmaxf(larger, shuffle_xor(larger, 2));
        const float base = larger == -INFINITY ? 0.0f : larger * c;
        // Note: computed from the difference, so it is exactly 1 while the maximum stays.  max c - larger c, fused, would leave
        // the rounding error of one product in every factor, and the sum of 100,000 weights would drift.
        const float shrink = max[i][h] == -INFINITY ? 0.0f : exp2_approx((max[i][h] - larger) * c);
        max[i][h] = larger;
        float total = 0;
#pragma unroll
        for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
          for (int e = 2 * h; e < 2 * h + 2; ++e) s[i][n][e] = exp2_approx(fmaf(s[i][n][e], c, -base));
          total += s[i][n][2 * h] + s[i][n][2 * h + 1];
        }
        sum[i][h] = fmaf(sum[i][h], shrink, total);
#pragma unroll
        for (int n = 0; n < kDim / 8; ++n) {
          o[i][n][2 * h] *= shrink;
          o[i][n][2 * h + 1] *= shrink;
        }
      }
  }

  // o += P V.
  __device__ void add_values(const Scores& p, const T* v) {
    const int lane = fresh(lane_id());
#pragma unroll
    for (int step = 0; step < kKeys / 16; ++step) {
      unsigned a[kTilesM][4];
#pragma unroll
      for (int i = 0; i < kTilesM; ++i)
#pragma unroll
        for (int w = 0; w < 4; ++w) {
          const float(&from)[4] = p[i][2 * step + w / 2];
          a[i][w] = pack<T>(from[w % 2 * 2], from[w % 2 * 2 + 1]);
        }
#pragma unroll
      for (int n = 0; n < kDim / 16; ++n) {
        unsigned b[4];
        ldmatrix_trans<4>(b, v + Tile::place(step * 16 + lane % 16, 2 * n + lane / 16));
#pragma unroll
        for (int i = 0; i < kTilesM; ++i) {
          Mma::template multiply<T>(o[i][2 * n], a[i], b[0], b[1]);
          Mma::template multiply<T>(o[i][2 * n + 1], a[i], b[2], b[3]);
        }
      }
    }
  }

  // The same if V holds inf or NaN: key by key and only visible ones, since 0 times NaN is NaN.
  __device__ void add_visible_values(const Scores& weights, const T* v, const Problem<T>& p, int first_query, int first_key) {
    const int lane = fresh(lane_id());
#pragma unroll 1
    for (int key = 0; key < kKeys; ++key) {
      float weight[kTilesM][2];
      bool seen[kTilesM][2];
#pragma unroll
      for (int i = 0; i < kTilesM; ++i)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          float w = 0;
#pragma unroll
          for (int n = 0; n < kKeys / 8; ++n) {
            const float even = weights[i][n][2 * h], odd = weights[i][n][2 * h + 1];
            if (n * 8 == key / 8 * 8) w = key % 2 ? odd : even;
          }
          weight[i][h] = shuffle(w, lane / 4 * 4 + key % 8 / 2);
          const int query = first_query + i * 16 + h * 8 + lane / 4;
          seen[i][h] = first_key + key < p.visible(query) && (!kGeneral || first_key + key >= p.first_visible(query));
        }
#pragma unroll
      for (int n = 0; n < kDim / 8; ++n) {
        const Vec<float, 2> x = unpack<T>(ld(reinterpret_cast<const unsigned*>(v + Tile::place(key, n) + lane % 4 * 2)));
#pragma unroll
        for (int i = 0; i < kTilesM; ++i)
#pragma unroll
          for (int e = 0; e < 4; ++e)
            if (seen[i][e / 2]) o[i][n][e] = fmaf(weight[i][e / 2], x[e % 2], o[i][n][e]);
      }
    }
  }

  // Stores O and L of the warp's rows.  Without kWeighted: L was written by another kernel; O is the plain sum, 0 where L is
  // -inf.  `tile`: shared memory for the rows, used by this warp only.
  template <bool kWeighted>
  __device__ void finish(const Problem<T>& p, int batch, int head, int first_query, T* tile, bool wide) {
    const int lane = lane_id();
    sync_warp();
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int row = i * 16 + h * 8 + lane / 4;
        float total = 1;
        if constexpr (kWeighted) {
          total = sum[i][h];
          total += shuffle_xor(total, 1);
          total += shuffle_xor(total, 2);
        } else if (first_query + row < p.queries) {
          // Note: no key is visible; the weights are 0, but 0 times NaN would be NaN.
          if (ld(p.lse.of(batch, head) + (first_query + row) * p.lse.seq) == -INFINITY) total = 0;
        }
        const float inverse = 1.0f / total;
#pragma unroll
        for (int n = 0; n < kDim / 8; ++n) {
          const float x = total == 0 ? 0.0f : o[i][n][2 * h] * inverse, y = total == 0 ? 0.0f : o[i][n][2 * h + 1] * inverse;
          st(reinterpret_cast<unsigned*>(tile + Tile::place(row, n) + lane % 4 * 2), pack<T>(x, y));
        }
        if (kWeighted && lane % 4 == 0 && first_query + row < p.queries)
          st(kGeneral ? p.lse_of(batch, head, first_query + row) : p.lse.of(batch, head) + (first_query + row) * p.lse.seq,
             total == 0 ? -INFINITY : fmaf(max[i][h], kGeneral && p.cap > 0 ? 1.0f : p.scale, logf(total)));
      }
    sync_warp();
    T* const out = p.o.of(batch, head);
#pragma unroll 4
    for (int at = lane; at < kQueries * Tile::kChunks; at += kWarp) {
      const int row = at / Tile::kChunks, channel = at % Tile::kChunks * kChunk;
      if (first_query + row >= p.queries || channel >= p.dim) continue;
      const Vec<T, kChunk> values = ld(reinterpret_cast<const Vec<T, kChunk>*>(tile + Tile::place(row, channel / kChunk)));
      T* const to = out + (first_query + row) * p.o.seq + channel;
      if (wide && channel + kChunk <= p.dim) st(reinterpret_cast<Vec<T, kChunk>*>(to), values);
      else
        for (int j = 0; j < kChunk; ++j)
          if (channel + j < p.dim) st(to + j, values[j]);
    }
  }
};

// Blocks of queries, ordered so that those with the most visible keys start first.
template <class T>
Schedule schedule(const Problem<T>& p, int tile_queries, bool head_by_head = false) {
  const std::int64_t batches = separate_batches(p), keys = static_cast<std::int64_t>(p.keys) * (p.batches / batches);
  const double bytes = head_by_head ? INFINITY : 2.0 * sizeof(T) * keys * p.dim / p.group;
  Schedule s = head_tile::schedule(query_tiles(p, tile_queries), p.heads * batches, bytes);
  s.of_batch = head_tile::Divisor(p.heads);
  return s;
}
struct QueryTile {
  int tile, head, batch, group;  // group: of the schedule
};
__device__ inline QueryTile query_tile(const Schedule& s, int block) {
  const Work work = work_of(s, block);
  const int batch = s.of_batch.of(work.head);
  return {s.tiles - 1 - work.rank, work.head - batch * s.of_batch.d, batch, work.group};
}

inline Legality fits_fragments(const attention_forward::Args& a) {
  if (a.q.shape[3] > 256) return Legality::no("head_dim exceeds 256");
  return extents_fit(a);
}

inline Legality fits_plain_fragments(const attention_forward::Args& a) {
  const Legality plain = only_masks(a);
  return plain ? fits_fragments(a) : plain;
}

}  // namespace assay::ASSAY_FLAVOUR::attention_forward_room
