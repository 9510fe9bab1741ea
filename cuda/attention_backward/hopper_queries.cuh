// SPDX-License-Identifier: Apache-2.0
// dQ of 128 queries by wgmma: S = Q K^T and g = dO V^T of 128 keys at a time, dS = P (g - D) in registers, dQ += dS K.  Blocks of
// keys go from the last that is seen to the first.
#pragma once

#include "cuda/attention_backward/hopper_common.cuh"

namespace assay::ASSAY_FLAVOUR::attention_backward_room {

template <int Dim>
struct QueriesShape {
  static constexpr int kDim = Dim, kHalves = Dim / 64, kKeys = 128, kStages = 2;
  static constexpr int kBox = kOwn * kBoxRow, kTile = kBox * kHalves;  // bytes of a box, of a tile: 128 rows, own or of keys
  static constexpr int kGradientAt = kTile, kKAt = 2 * kTile, kVAt = kKAt + kStages * kTile, kBarriersAt = kVAt + kStages * kTile;
  static constexpr int kShared = kBarriersAt + 8 * (1 + 4 * kStages);
};

// Writes dQ of 64 queries, rows [64 me, 64 me + 64) from `first` on, to staging.
template <int kDim, class T>
__device__ inline void stage_queries(const float (&sum)[kDim / 2], const Problem<T>& p, const Statistics& statistics, int batch,
                                     int head, int first, unsigned char* staging, int me, int box) {
  const unsigned bad[2] = {not_finite(sum, 0), not_finite(sum, 1)};
  stage_rows<T>(sum, p.scale, staging, me, box);
  if ((bad[0] | bad[1]) == 0) return;
  sync_warp();
#pragma unroll 1
  for (int row = 0; row < 16; ++row) {
    const int at = me * 64 + static_cast<int>(threadIdx.x) % 128 / kWarp * 16 + row, query = first + at;
    if (((row < 8 ? bad[0] : bad[1]) >> row % 8 * 4 & 15) == 0 || query >= p.queries) continue;
    const std::int64_t of_query = statistics.row(batch, head, p.heads) + query;
    const Vec<float, 2> of{{ld(statistics.l + of_query), ld(statistics.d + of_query)}};
    MendedRow<kDim, T> mended;
    mended.add(p.q.row(batch, head, query), p.d_o.row(batch, head, query), p.k, p.v, batch, head / p.group, 0, p.visible(query),
               p.dim, p.scale * kLog2E, [&](int) { return of; });
    mended.store(mended.x, p.scale, staging, at, box);
  }
}

template <class S, class T>
__global__ void __launch_bounds__(kHopperThreads, 1)
    attention_backward_hopper_queries(const __grid_constant__ TensorMap q, const __grid_constant__ TensorMap d_o,
                                      const __grid_constant__ TensorMap k, const __grid_constant__ TensorMap v,
                                      const __grid_constant__ TensorMap dq, const Problem<T> p, const Statistics statistics,
                                      const Schedule schedule) {
  const Work work = work_of(schedule, static_cast<int>(blockIdx.x));
  const int head = work.head % p.heads, batch = work.head / p.heads, kv_head = head / p.group;
  const int first = (schedule.tiles - 1 - work.rank) * kOwn, last = (first + kOwn < p.queries ? first + kOwn : p.queries) - 1;
  const int blocks = (p.visible(last) + S::kKeys - 1) / S::kKeys;
  auto* const own = box_memory<Barrier>(S::kBarriersAt);
  Barrier *const k_full = own + 1, *const k_empty = k_full + S::kStages, *const v_full = k_empty + S::kStages;
  Barrier* const v_empty = v_full + S::kStages;
  if (threadIdx.x == 0) {
    barrier_init(own, 1);
    for (int s = 0; s < S::kStages; ++s) {
      barrier_init(k_full + s, 1);
      barrier_init(k_empty + s, 2);
      barrier_init(v_full + s, 1);
      barrier_init(v_empty + s, 2);
    }
    barriers_ready();
  }
  sync_block();
  const int group = static_cast<int>(threadIdx.x) / 128, thread = static_cast<int>(threadIdx.x) % 128;
  Turn<S::kStages> t;
  if (group == 0) {
    give_registers<kCopierRegisters>();
    if (thread != 0) return;
    const auto copy = [&](int at, const TensorMap& map, Barrier* full, int row, int of) {
      for (int h = 0; h < S::kHalves; ++h)
        copy_box(box_memory<unsigned char>(at + h * S::kBox), map, full, h * 64, row, of, batch);
    };
    barrier_arrive_expect(own, 2 * S::kTile);
    copy(0, q, own, first, head);
    copy(S::kGradientAt, d_o, own, first, head);
    for (int block = blocks - 1; block >= 0; --block, t.next()) {
      barrier_wait(k_empty + t.stage, t.phase ^ 1);
      barrier_arrive_expect(k_full + t.stage, S::kTile);
      copy(S::kKAt + t.stage * S::kTile, k, k_full + t.stage, block * S::kKeys, kv_head);
      barrier_wait(v_empty + t.stage, t.phase ^ 1);
      barrier_arrive_expect(v_full + t.stage, S::kTile);
      copy(S::kVAt + t.stage * S::kTile, v, v_full + t.stage, block * S::kKeys, kv_head);
    }
    return;
  }
  take_registers<kOtherRegisters>();
  const int me = group - 1, lane = lane_id(), warp_query = first + me * 64 + thread / kWarp * 16;
  const float c = p.scale * kLog2E;
  float sum[S::kDim / 2], s[S::kKeys / 2], ds[S::kKeys / 2], l[2], d[2];
  unsigned weights[S::kKeys / 16][4];
#pragma unroll
  for (int i = 0; i < S::kDim / 2; ++i) sum[i] = 0;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int query = warp_query + h * 8 + lane / 4;
    const std::int64_t at = statistics.row(batch, head, p.heads) + query;
    l[h] = query < p.queries ? ld(statistics.l + at) : INFINITY;
    d[h] = query < p.queries ? ld(statistics.d + at) : 0.0f;
  }
  barrier_wait(own, 0);
  const auto of_q = k_major<T>(box_memory<unsigned char>(me * 64 * kBoxRow));
  const auto of_d_o = k_major<T>(box_memory<unsigned char>(S::kGradientAt + me * 64 * kBoxRow));
  for (int block = blocks - 1; block >= 0; --block, t.next()) {
    unsigned char *const keys = box_memory<unsigned char>(S::kKAt + t.stage * S::kTile), *const values =
                                                                                             box_memory<unsigned char>(
                                                                                                 S::kVAt + t.stage * S::kTile);
    barrier_wait(k_full + t.stage, t.phase);
    wgmma_begin();
#pragma unroll
    for (int j = 0; j < 4 * S::kHalves; ++j)
      wgmma<T>(s, of_q.plus(j / 4 * S::kBox + j % 4 * 32), k_major<T>(keys).plus(j / 4 * S::kBox + j % 4 * 32), j != 0);
    wgmma_commit();
    barrier_wait(v_full + t.stage, t.phase);
#pragma unroll
    for (int j = 0; j < 4 * S::kHalves; ++j)
      wgmma<T>(ds, of_d_o.plus(j / 4 * S::kBox + j % 4 * 32), k_major<T>(values).plus(j / 4 * S::kBox + j % 4 * 32), j != 0);
    wgmma_commit();
    wgmma_wait<1>(s);
    const bool masked = (block + 1) * S::kKeys > p.visible(first + me * 64);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int seen = p.visible(warp_query + h * 8 + lane / 4) - block * S::kKeys - lane % 4 * 2;
#pragma unroll
      for (int n = 0; n < S::kKeys / 8; ++n)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float& w = s[4 * n + 2 * h + e];
          if (masked && 8 * n + e >= seen) w = -INFINITY;
          w = exp2_approx(fmaf(w, c, -l[h]));
        }
    }
    wgmma_wait<0>(ds);
    if (thread == 0) barrier_arrive(v_empty + t.stage);
#pragma unroll
    for (int i = 0; i < S::kKeys / 2; ++i) ds[i] = s[i] * (ds[i] - d[i / 2 % 2]);
    pack_weights<T>(weights, ds);
    wgmma_begin();
#pragma unroll
    for (int j = 0; j < S::kKeys / 16; ++j) wgmma<T>(sum, weights[j], mn_major<T>(keys, S::kBox).plus(j * 16 * kBoxRow), true);
    wgmma_commit();
    wgmma_wait<0>(sum);
    if (thread == 0) barrier_arrive(k_empty + t.stage);
  }

  // The rows of Q that this warpgroup has multiplied are free.
  sync_named(1 + me, 128);
  unsigned char* const staging = box_memory<unsigned char>();
  stage_queries<S::kDim, T>(sum, p, statistics, batch, head, first, staging, me, S::kBox);
  fence_shared_async();
  sync_named(1 + me, 128);
  if (thread == 0) {
    for (int h = 0; h < S::kHalves; ++h)
      store_box(dq, staging + h * S::kBox + me * 64 * kBoxRow, h * 64, first + me * 64, head, batch);
    store_commit();
    store_wait<0>();
  }
}

}  // namespace assay::ASSAY_FLAVOUR::attention_backward_room
