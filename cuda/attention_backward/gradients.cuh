// SPDX-License-Identifier: Apache-2.0
// Gradients on tensor cores, one warp's part: 16 rows (queries or keys) against a tile of kColumns of the other kind.  Scores and
// gradients stay in registers as mma accumulators; the weights' accumulators have the layout of the next product's A fragments.
// Element e of a tile of 8 columns is row g + 8 (e / 2), column 2t + e % 2, where g = lane / 4, t = lane % 4.
#pragma once

#include "cuda/attention_backward/problem.cuh"
#include "cuda/core/exponential.cuh"
#include "cuda/core/head_tile.cuh"

namespace assay::ASSAY_FLAVOUR::attention_backward_room {

using namespace head_tile;

inline constexpr int kRows = 16;  // rows per warp

template <class T, int kDim, int kColumns>
struct Gradients {
  using Tile = Rows128<kDim>;
  using Weights = float[kColumns / 8][4];
  using Sum = float[kDim / 8][4];

  __device__ static void clear(Sum& sum) {
#pragma unroll
    for (int n = 0; n < kDim / 8; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) sum[n][e] = 0;
  }

  // w = rows columns^T.  `rows`: the first row of the warp.
  __device__ static void multiply(Weights& w, const T* rows, const T* columns) {
    const int lane = fresh(lane_id());
#pragma unroll
    for (int n = 0; n < kColumns / 8; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) w[n][e] = 0;
#pragma unroll
    for (int step = 0; step < kDim / 16; ++step) {
      unsigned a[4];
      ldmatrix<4>(a, rows + Tile::place(lane % 16, 2 * step + lane / 16));
#pragma unroll
      for (int n = 0; n < kColumns / 16; ++n) {
        unsigned b[4];
        ldmatrix<4>(b, columns + Tile::place(n * 16 + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));
        const unsigned low[2] = {b[0], b[1]}, high[2] = {b[2], b[3]};
        mma_m16n8k16<T>(w[2 * n], a, low);
        mma_m16n8k16<T>(w[2 * n + 1], a, high);
      }
    }
  }

  // sum += w columns, w rounded to the storage dtype.
  __device__ static void add(Sum& sum, const Weights& w, const T* columns) {
    const int lane = fresh(lane_id());
#pragma unroll
    for (int step = 0; step < kColumns / 16; ++step) {
      unsigned a[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float(&from)[4] = w[2 * step + i / 2];
        a[i] = pack<T>(from[i % 2 * 2], from[i % 2 * 2 + 1]);
      }
#pragma unroll
      for (int n = 0; n < kDim / 16; ++n) {
        unsigned b[4];
        ldmatrix_trans<4>(b, columns + Tile::place(step * 16 + lane % 16, 2 * n + lane / 16));
        const unsigned low[2] = {b[0], b[1]}, high[2] = {b[2], b[3]};
        mma_m16n8k16<T>(sum[2 * n], a, low);
        mma_m16n8k16<T>(sum[2 * n + 1], a, high);
      }
    }
  }

  // sum += w columns, without rounding w, and only for pairs of row g + 8 half and column for which counts(half, column).  Used
  // where `columns` holds inf or NaN (0 times either is NaN) or w overflows the storage dtype.
  template <class Counts>
  __device__ static void add_counted(Sum& sum, const Weights& w, const T* columns, Counts&& counts) {
    const int lane = fresh(lane_id());
#pragma unroll 1
    for (int column = 0; column < kColumns; ++column) {
      float weight[2];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float mine = 0;
#pragma unroll
        for (int n = 0; n < kColumns / 8; ++n) {
          const float even = w[n][2 * h], odd = w[n][2 * h + 1];
          if (n == column / 8) mine = column % 2 ? odd : even;
        }
        weight[h] = shuffle(mine, lane / 4 * 4 + column % 8 / 2);
      }
      const bool seen[2] = {counts(0, column), counts(1, column)};
#pragma unroll
      for (int n = 0; n < kDim / 8; ++n) {
        const Vec<float, 2> x = unpack<T>(ld(reinterpret_cast<const unsigned*>(columns + Tile::place(column, n) + lane % 4 * 2)));
#pragma unroll
        for (int e = 0; e < 4; ++e)
          if (seen[e / 2]) sum[n][e] = fmaf(weight[e / 2], x[e % 2], sum[n][e]);
      }
    }
  }

  // Sets the weights of pairs that do not count to zero.
  template <class Counts>
  __device__ static void mask(Weights& w, Counts&& counts) {
    const int first = fresh(lane_id()) % 4 * 2;
#pragma unroll
    for (int n = 0; n < kColumns / 8; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        if (!counts(e / 2, n * 8 + first + e % 2)) w[n][e] = 0;
  }

  // Whether a weight of any lane overflows the storage dtype.
  __device__ static bool too_large(const Weights& w) {
    if constexpr (std::is_same_v<T, half>) {
      float most = 0;
#pragma unroll
      for (int n = 0; n < kColumns / 8; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) most = fmaxf(most, fabsf(w[n][e]));
      return any(most >= 65520.0f);
    } else {
      return false;
    }
  }

  // Stores factor * sum to rows [first, first + 16) of `out`, `dead` rows as zeros.  `tile`: shared memory of this warp.
  __device__ static void store(const Sum& sum, float factor, const bool (&dead)[2], T* out, std::int64_t stride, int first,
                               int rows, int dim, T* tile, bool wide) {
    const int lane = lane_id();
    sync_warp();
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int n = 0; n < kDim / 8; ++n) {
        const float x = dead[h] ? 0.0f : sum[n][2 * h] * factor, y = dead[h] ? 0.0f : sum[n][2 * h + 1] * factor;
        st(reinterpret_cast<unsigned*>(tile + Tile::place(h * 8 + lane / 4, n) + lane % 4 * 2), pack<T>(x, y));
      }
    sync_warp();
#pragma unroll 4
    for (int at = lane; at < kRows * Tile::kChunks; at += kWarp) {
      const int row = at / Tile::kChunks, channel = at % Tile::kChunks * kChunk;
      if (first + row >= rows || channel >= dim) continue;
      const Vec<T, kChunk> values = ld(reinterpret_cast<const Vec<T, kChunk>*>(tile + Tile::place(row, channel / kChunk)));
      T* const to = out + (first + row) * stride + channel;
      if (wide && channel + kChunk <= dim) st(reinterpret_cast<Vec<T, kChunk>*>(to), values);
      else
        for (int j = 0; j < kChunk; ++j)
          if (channel + j < dim) st(to + j, values[j]);
    }
  }
};

inline Legality fits_fragments(const attention_backward::Args& a) {
  if (a.q.shape[3] > 256) return Legality::no("head_dim exceeds 256");
  return extents_fit(a);
}

}  // namespace assay::ASSAY_FLAVOUR::attention_backward_room
