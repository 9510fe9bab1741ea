// SPDX-License-Identifier: Apache-2.0
// What the passes by wgmma read of each query, D and L log2(e), and where they add, cleared.
#pragma once

#include "cuda/attention_backward/hopper_common.cuh"

namespace assay::ASSAY_FLAVOUR::attention_backward_room {

inline constexpr int kStatisticThreads = 128, kStatisticRows = 8;  // places of a warp; 64, and so each pitch, is a multiple

// For each place of `l` and `d`; and clears kSums of the floats `sums` for each.  16 lanes take a row of at most 128 channels,
// and a warp's rows are loaded before the first is used.
template <int kSums, class T>
__global__ void __launch_bounds__(kStatisticThreads)
    attention_backward_statistics(Problem<T> p, float* l, float* d, float* sums, int pitch, std::int64_t places) {
  constexpr int kTurns = kStatisticRows / 2;
  const std::int64_t place = (static_cast<std::int64_t>(blockIdx.x) * (kStatisticThreads / kWarp) + warp_id()) * kStatisticRows;
  if (place >= places) return;
  const int first = static_cast<int>(place % pitch), all = static_cast<int>(place / pitch), lane = lane_id();
  const int batch = all / p.heads, head = all % p.heads, channel = lane % 16 * 8;
  Vec<T, 8> x[kTurns]{}, y[kTurns]{};
  float lse[kTurns];
#pragma unroll
  for (int i = 0; i < kTurns; ++i) {
    const int query = first + 2 * i + lane / 16;
    lse[i] = query < p.queries && lane % 16 == 0 ? ld(p.lse.row(batch, head, query)) : -INFINITY;
    if (query >= p.queries || channel >= p.dim) continue;
    x[i] = ld(reinterpret_cast<const Vec<T, 8>*>(p.d_o.row(batch, head, query) + channel));
    y[i] = ld(reinterpret_cast<const Vec<T, 8>*>(p.o.row(batch, head, query) + channel));
  }
  if constexpr (kSums > 0) {
#pragma unroll
    for (int i = 0; i < kStatisticRows * kSums / (4 * kWarp); ++i)
      st(reinterpret_cast<Vec<float, 4>*>(sums + place * kSums) + i * kWarp + lane, Vec<float, 4>{});
  }
#pragma unroll
  for (int i = 0; i < kTurns; ++i) {
    float sum = 0;
#pragma unroll
    for (int e = 0; e < 8; ++e) sum = fmaf(to_float(x[i][e]), to_float(y[i][e]), sum);
#pragma unroll
    for (int offset = 8; offset > 0; offset /= 2) sum += shuffle_xor(sum, offset);
    const std::int64_t at = place + 2 * i + lane / 16;
    if (lane % 16 == 0) {
      st(l + at, lse[i] == -INFINITY ? INFINITY : lse[i] * kLog2E);
      st(d + at, sum);
    }
  }
}

// Launches attention_backward_statistics.
template <int kSums, class T>
void run_statistics(const Problem<T>& p, const Statistics& of, float* sums, const Launch& l) {
  const std::int64_t places = static_cast<std::int64_t>(p.batches) * p.heads * of.pitch;
  if (places > 0)
    launch(attention_backward_statistics<kSums, T>,
           {.grid = dim3(ceil_div(places, kStatisticThreads / kWarp * kStatisticRows)), .block = dim3(kStatisticThreads)},
           l.stream, p, of.l, of.d, sums, of.pitch, places);
}

}  // namespace assay::ASSAY_FLAVOUR::attention_backward_room
