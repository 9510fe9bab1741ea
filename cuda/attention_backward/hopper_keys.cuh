// SPDX-License-Identifier: Apache-2.0
// dK and dV of 128 keys by wgmma, with everything transposed: S^T = K Q^T and g^T = V dO^T of 64 queries at a time, P^T and dS^T
// in registers, dV += P^T dO, dK += dS^T Q.  The products of a block are issued in the order dV of the last block, S, dK of the
// last block, g, so that the exponentials of S run under dK.
#pragma once

#include "cuda/attention_backward/hopper_common.cuh"

namespace assay::ASSAY_FLAVOUR::attention_backward_room {

template <int Dim>
struct KeysShape {
  static constexpr int kDim = Dim, kHalves = Dim / 64, kStages = 3;
  static constexpr int kBox = kOwn * kBoxRow, kTile = kBox * kHalves;                  // bytes of own rows: K, then V
  static constexpr int kLoopBox = kLoopQueries * kBoxRow, kLoop = kLoopBox * kHalves;  // of a block of Q or dO
  static constexpr int kRow = kLoopQueries * 4;                                        // of L or D of a block
  static constexpr int kQAt = 2 * kTile, kGradientAt = kQAt + kStages * kLoop, kLAt = kGradientAt + kStages * kLoop;
  static constexpr int kDAt = kLAt + kStages * kRow, kBarriersAt = kDAt + kStages * kRow;
  static constexpr int kShared = kBarriersAt + 8 * (1 + 4 * kStages);
};

// Stores the gradients of this warpgroup's 64 keys, by way of the rows of V and K that it has multiplied.  wait_for_k: returns
// when nobody else reads those of K.
template <class S, class T, class Wait>
__device__ inline void store_keys(const float (&of_k)[S::kDim / 2], const float (&of_v)[S::kDim / 2], const TensorMap& dk,
                                  const TensorMap& dv, const Problem<T>& p, const Statistics& statistics, int first, int kv_head,
                                  int batch, int me, Wait&& wait_for_k) {
  const int thread = static_cast<int>(threadIdx.x) % 128, warp_key = first + me * 64 + thread / kWarp * 16;
  sync_named(1 + me, 128);
  unsigned char* const staging = box_memory<unsigned char>();
  const unsigned bad_k[2] = {not_finite(of_k, 0), not_finite(of_k, 1)}, bad_v[2] = {not_finite(of_v, 0), not_finite(of_v, 1)};
  stage_rows<T>(of_v, 1.0f, staging + S::kTile, me, S::kBox);
  wait_for_k();
  stage_rows<T>(of_k, p.scale, staging, me, S::kBox);
  if ((bad_k[0] | bad_k[1] | bad_v[0] | bad_v[1]) != 0) {
    sync_warp();
#pragma unroll 1
    for (int row = 0; row < 16; ++row) {
      const int key = warp_key + row, at = me * 64 + thread / kWarp * 16 + row;
      const auto is_bad = [&](const unsigned(&bad)[2]) { return ((row < 8 ? bad[0] : bad[1]) >> row % 8 * 4 & 15) != 0; };
      const bool mends_k = is_bad(bad_k), mends_v = is_bad(bad_v);  // apart: dS may be out of range where P is not
      if (!(mends_k || mends_v) || key >= p.keys) continue;
      MendedRow<S::kDim, T> mended;
#pragma unroll 1
      for (int head = kv_head * p.group; head < (kv_head + 1) * p.group; ++head) {
        const std::int64_t of = statistics.row(batch, head, p.heads);
        mended.add(p.k.row(batch, kv_head, key), p.v.row(batch, kv_head, key), p.q, p.d_o, batch, head, p.seen_from(key),
                   p.queries, p.dim, p.scale * kLog2E, [&](int i) {
                     return Vec<float, 2>{{ld(statistics.l + of + i), ld(statistics.d + of + i)}};
                   });
      }
      if (mends_k) mended.store(mended.x, p.scale, staging, at, S::kBox);
      if (mends_v) mended.store(mended.y, 1.0f, staging + S::kTile, at, S::kBox);
    }
  }
  fence_shared_async();
  sync_named(1 + me, 128);
  if (thread == 0) {
    for (int h = 0; h < S::kHalves; ++h) {
      store_box(dk, staging + h * S::kBox + me * 64 * kBoxRow, h * 64, first + me * 64, kv_head, batch);
      store_box(dv, staging + S::kTile + h * S::kBox + me * 64 * kBoxRow, h * 64, first + me * 64, kv_head, batch);
    }
    store_commit();
    store_wait<0>();
  }
}

// A product of own rows with those of a stage, over channels; and one of weights with a stage's rows, over queries.  `me`: which
// of the two warpgroups that hold keys.  Note: without fresh(), the compiler keeps all descriptors of own rows in registers, and
// spills.
template <class S, class T>
__device__ inline void over_channels(float (&to)[kLoopQueries / 2], int own_at, int at, int me) {
  const auto a = k_major<T>(box_memory<unsigned char>(own_at + fresh(me) * 64 * kBoxRow)),
             b = k_major<T>(box_memory<unsigned char>(at));
#pragma unroll
  for (int j = 0; j < 4 * S::kHalves; ++j)
    wgmma<T>(to, a.plus(j / 4 * S::kBox + j % 4 * 32), b.plus(j / 4 * S::kLoopBox + j % 4 * 32), j != 0);
  wgmma_commit();
}
template <class S, class T>
__device__ inline void over_queries(float (&to)[S::kDim / 2], const unsigned (&by)[kLoopQueries / 16][4], int at) {
  const auto b = mn_major<T>(box_memory<unsigned char>(at), S::kLoopBox);
#pragma unroll
  for (int j = 0; j < kLoopQueries / 16; ++j) wgmma<T>(to, by[j], b.plus(j * 16 * kBoxRow), true);
  wgmma_commit();
}

template <class S, class T>
__global__ void __launch_bounds__(kHopperThreads, 1)
    attention_backward_hopper_keys(const __grid_constant__ TensorMap q, const __grid_constant__ TensorMap d_o,
                                   const __grid_constant__ TensorMap k, const __grid_constant__ TensorMap v,
                                   const __grid_constant__ TensorMap dk, const __grid_constant__ TensorMap dv,
                                   const __grid_constant__ TensorMap l, const __grid_constant__ TensorMap d, const Problem<T> p,
                                   const Statistics statistics, const Schedule schedule) {
  const Work work = work_of(schedule, static_cast<int>(blockIdx.x));
  const int kv_heads = p.heads / p.group, kv_head = work.head % kv_heads, batch = work.head / kv_heads, first = work.rank * kOwn;
  const int begin = p.seen_from(first) / kLoopQueries, of_head = (p.queries + kLoopQueries - 1) / kLoopQueries - begin;
  const int steps = of_head > 0 ? of_head * p.group : 0;
  auto* const own = box_memory<Barrier>(S::kBarriersAt);
  Barrier *const q_full = own + 1, *const q_empty = q_full + S::kStages, *const o_full = q_empty + S::kStages;
  Barrier* const o_empty = o_full + S::kStages;
  if (threadIdx.x == 0) {
    barrier_init(own, 1);
    for (int s = 0; s < S::kStages; ++s) {
      barrier_init(q_full + s, 1);
      barrier_init(q_empty + s, 8);
      barrier_init(o_full + s, 1);
      barrier_init(o_empty + s, 8);
    }
    barriers_ready();
  }
  sync_block();
  const int group = static_cast<int>(threadIdx.x) / 128, thread = static_cast<int>(threadIdx.x) % 128;
  Turn<S::kStages> t;
  if (group == 0) {
    give_registers<kCopierRegisters>();
    if (thread != 0) return;
    barrier_arrive_expect(own, 2 * S::kTile);
    for (int h = 0; h < S::kHalves; ++h) {
      copy_box(box_memory<unsigned char>(h * S::kBox), k, own, h * 64, first, kv_head, batch);
      copy_box(box_memory<unsigned char>(S::kTile + h * S::kBox), v, own, h * 64, first, kv_head, batch);
    }
    for (int step = 0; step < steps; ++step, t.next()) {
      const int head = kv_head * p.group + step / of_head, query = (begin + step % of_head) * kLoopQueries;
      const auto copy = [&](int at, const TensorMap& rows, int row_at, const TensorMap& row, Barrier* full, Barrier* empty) {
        barrier_wait(empty + t.stage, t.phase ^ 1);
        barrier_arrive_expect(full + t.stage, S::kLoop + S::kRow);
        for (int h = 0; h < S::kHalves; ++h)
          copy_box(box_memory<unsigned char>(at + t.stage * S::kLoop + h * S::kLoopBox), rows, full + t.stage, h * 64, query,
                   head, batch);
        copy_box(box_memory<unsigned char>(row_at + t.stage * S::kRow), row, full + t.stage, query, batch * p.heads + head);
      };
      copy(S::kQAt, q, S::kLAt, l, q_full, q_empty);
      copy(S::kGradientAt, d_o, S::kDAt, d, o_full, o_empty);
    }
    return;
  }
  take_registers<kOtherRegisters>();
  const int me = group - 1, lane = lane_id(), warp_key = first + me * 64 + thread / kWarp * 16;
  const float c = p.scale * kLog2E;
  float of_k[S::kDim / 2], of_v[S::kDim / 2], s[kLoopQueries / 2], g[kLoopQueries / 2];
  unsigned weights[kLoopQueries / 16][4], ds[kLoopQueries / 16][4];
#pragma unroll
  for (int i = 0; i < S::kDim / 2; ++i) {
    of_k[i] = 0;
    of_v[i] = 0;
  }

  // L or D of the thread's queries 8 n + 2 (lane % 4) and the one after it.
  const auto pair = [&](int at, int n) {
    return ld(box_memory<const Vec<float, 2>>(at + t.stage * S::kRow + n * 32 + lane % 4 * 8));
  };
  const auto weigh = [&](int step) {
    const int query = (begin + step % of_head) * kLoopQueries;
    const bool masked = query < p.seen_from(first + me * 64 + 63);
#pragma unroll
    for (int n = 0; n < kLoopQueries / 8; ++n) {
      const Vec<float, 2> of = pair(S::kLAt, n);
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        float& w = s[4 * n + e];
        if (masked && query + 8 * n + lane % 4 * 2 + e % 2 < p.seen_from(warp_key + e / 2 * 8 + lane / 4)) w = -INFINITY;
        w = exp2_approx(fmaf(w, c, -of[e % 2]));
      }
    }
  };
  const auto pack = [&] {
    pack_weights<T>(weights, s);
#pragma unroll
    for (int n = 0; n < kLoopQueries / 8; ++n) {
      const Vec<float, 2> of = pair(S::kDAt, n);
#pragma unroll
      for (int e = 0; e < 4; ++e) g[4 * n + e] = s[4 * n + e] * (g[4 * n + e] - of[e % 2]);
    }
    pack_weights<T>(ds, g);
  };

  barrier_wait(own, 0);
  if (steps > 0) {
    barrier_wait(q_full, 0);
    wgmma_begin();
    over_channels<S, T>(s, 0, S::kQAt, me);
    barrier_wait(o_full, 0);
    over_channels<S, T>(g, S::kTile, S::kGradientAt, me);
    wgmma_wait<1>(s);
    weigh(0);
    wgmma_wait<0>(g);
    pack();
    for (int step = 1; step < steps; ++step) {
      const int before = t.stage;
      t.next();
      wgmma_begin();
      over_queries<S, T>(of_v, weights, S::kGradientAt + before * S::kLoop);
      barrier_wait(q_full + t.stage, t.phase);
      over_channels<S, T>(s, 0, S::kQAt + t.stage * S::kLoop, me);
      over_queries<S, T>(of_k, ds, S::kQAt + before * S::kLoop);
      wgmma_wait<1>(s);
      wgmma_wait<1>(of_v);
      sync_warp();
      if (lane == 0) barrier_arrive(o_empty + before);
      weigh(step);
      barrier_wait(o_full + t.stage, t.phase);
      wgmma_begin();
      over_channels<S, T>(g, S::kTile, S::kGradientAt + t.stage * S::kLoop, me);
      wgmma_wait<0>(g);
      wgmma_wait<0>(of_k);
      sync_warp();
      if (lane == 0) barrier_arrive(q_empty + before);
      pack();
    }
    wgmma_begin();
    over_queries<S, T>(of_v, weights, S::kGradientAt + t.stage * S::kLoop);
    over_queries<S, T>(of_k, ds, S::kQAt + t.stage * S::kLoop);
    wgmma_wait<0>(of_v);
    wgmma_wait<0>(of_k);
  }

  store_keys<S, T>(of_k, of_v, dk, dv, p, statistics, first, kv_head, batch, me, [] {});
}

}  // namespace assay::ASSAY_FLAVOUR::attention_backward_room
