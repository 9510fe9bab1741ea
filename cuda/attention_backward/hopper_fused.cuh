// SPDX-License-Identifier: Apache-2.0
// dK, dV and dQ in one pass over blocks of 128 keys, by wgmma.  As in hopper_keys.cuh everything is transposed: two warpgroups
// hold dK and dV of 64 keys each and compute S^T, P^T and dS^T of 64 queries at a time.  dS^T goes to shared memory, where its
// rows of queries are what dK multiplies and its columns what dQ multiplies.  A third warpgroup copies, multiplies dQ = dS K of
// the block's keys and adds it to f32 sums in memory.  Blocks add in any order.
#pragma once

#include "cuda/attention_backward/hopper_keys.cuh"

namespace assay::ASSAY_FLAVOUR::attention_backward_room {

template <int Dim>
struct FusedShape : KeysShape<Dim> {
  using Keys = KeysShape<Dim>;
  static constexpr int kPiece = 128 * 16, kPieces = Dim / 8;  // bytes of four sums of each of 128 threads; how many of a block
  static constexpr int kSums = kPieces * kPiece, kScores = kOwn * kBoxRow;  // bytes of dQ, of dS^T of a block
  static constexpr int kScoresAt = (Keys::kDAt + Keys::kStages * Keys::kRow + 1023) / 1024 * 1024;
  static constexpr int kSumsAt = kScoresAt + 2 * kScores, kBarriersAt = kSumsAt + kSums;
  static constexpr int kShared = kBarriersAt + 8 * (1 + 4 * Keys::kStages + 4);
  static constexpr int kSumsRow = 256;  // floats of a row of the map of sums
  static constexpr int kSumsRows = kSums / 4 / kSumsRow;
};

inline constexpr int kSummerRegisters = 72, kHolderRegisters = 216;  // a thread; the launch gives 168

// The steps of a block of keys: all blocks of queries that see it, of each head of its group.
struct FusedWork {
  int begin, end, steps;  // blocks of queries [begin, end) of a head
  int block, step = 0;
  __device__ void next() {
    ++step;
    if (++block == end) block = begin;
  }
};

// kWaitsBefore: for the buffer of dS before g, in place of after it.
template <class S, bool kWaitsBefore, class T>
__global__ void __launch_bounds__(kHopperThreads, 1)
    attention_backward_hopper_fused(const __grid_constant__ TensorMap q, const __grid_constant__ TensorMap d_o,
                                    const __grid_constant__ TensorMap k, const __grid_constant__ TensorMap v,
                                    const __grid_constant__ TensorMap dk, const __grid_constant__ TensorMap dv,
                                    const __grid_constant__ TensorMap l, const __grid_constant__ TensorMap d,
                                    const __grid_constant__ TensorMap sums, const Problem<T> p, const Statistics statistics,
                                    const Schedule schedule) {
  const Work tile = work_of(schedule, static_cast<int>(blockIdx.x));
  const int kv_heads = p.heads / p.group, kv_head = tile.head % kv_heads, batch = tile.head / kv_heads, first = tile.rank * kOwn;
  const int begin = p.seen_from(first) / kLoopQueries, end = (p.queries + kLoopQueries - 1) / kLoopQueries;
  const int steps = end > begin ? (end - begin) * p.group : 0;
  // The first query that sees a key, and the first block of queries of which one sees any of 64 keys.
  const auto seen_from = [&](int key) { return key < p.keys ? p.seen_from(key) : p.queries; };
  const auto first_block = [&](int key) { return key < p.keys ? p.seen_from(key) / kLoopQueries : end; };
  auto* const own = box_memory<Barrier>(S::kBarriersAt);
  Barrier *const q_full = own + 1, *const q_empty = q_full + S::kStages, *const o_full = q_empty + S::kStages;
  Barrier *const o_empty = o_full + S::kStages, *const scores_full = o_empty + S::kStages, *const scores_empty = scores_full + 2;
  if (threadIdx.x == 0) {
    barrier_init(own, 1);
    for (int s = 0; s < S::kStages; ++s) {
      barrier_init(q_full + s, 1);
      barrier_init(q_empty + s, 2);
      barrier_init(o_full + s, 1);
      barrier_init(o_empty + s, 2);
    }
    for (int b = 0; b < 2; ++b) {
      barrier_init(scores_full + b, 2);
      barrier_init(scores_empty + b, 1);
    }
    barriers_ready();
  }
  sync_block();
  // Note: shuffle() tells the compiler that a warp has one group.  Without it, it serialises wgmma.
  const int group = shuffle(static_cast<int>(threadIdx.x) / 128, 0), thread = static_cast<int>(threadIdx.x) % 128;
  FusedWork w{begin, end, steps, begin};
  Turn<S::kStages> t;
  if (group == 0) {
    give_registers<kSummerRegisters>();
    int head = kv_head * p.group, next_head = head, next_block = begin, next = 0;  // next: what thread 0 copies
    const auto copy_own = [&](int at, const TensorMap& map) {
      for (int h = 0; h < S::kHalves; ++h)
        copy_box(box_memory<unsigned char>(at + h * S::kBox), map, own, h * 64, first, kv_head, batch);
    };
    const auto copy = [&](int at, const TensorMap& rows, int row_at, const TensorMap& row, Barrier* full) {
      barrier_arrive_expect(full + t.stage, S::kLoop + S::kRow);
      for (int h = 0; h < S::kHalves; ++h)
        copy_box(box_memory<unsigned char>(at + t.stage * S::kLoop + h * S::kLoopBox), rows, full + t.stage, h * 64,
                 next_block * kLoopQueries, next_head, batch);
      copy_box(box_memory<unsigned char>(row_at + t.stage * S::kRow), row, full + t.stage, next_block * kLoopQueries,
               batch * p.heads + next_head);
    };
    const auto copy_q = [&] { copy(S::kQAt, q, S::kLAt, l, q_full); };
    const auto copy_d_o = [&] { copy(S::kGradientAt, d_o, S::kDAt, d, o_full); };
    const auto copied = [&] {
      ++next;
      t.next();
      if (++next_block == end) {
        next_block = begin;
        ++next_head;
      }
    };
    if (thread == 0) {
      barrier_arrive_expect(own, 2 * S::kTile);
      copy_own(0, k);
      if (steps > 0) copy_q();
      copy_own(S::kTile, v);
      if (steps > 0) {
        copy_d_o();
        copied();
      }
      while (next < steps && next < S::kStages) {
        copy_q();
        copy_d_o();
        copied();
      }
    }
    sync_warp();
    barrier_wait(own, 0);
    const int of_head = statistics.pitch / kLoopQueries;
    float sum[32];
    for (; w.step < steps; w.next()) {
      const int b = w.step & 1;
      const auto of_scores = mn_major<T>(box_memory<unsigned char>(S::kScoresAt + b * S::kScores), kBoxRow);
      if (w.step > 0 && w.block == begin) ++head;
      barrier_wait(scores_full + b, w.step >> 1 & 1);
#pragma unroll
      for (int h = 0; h < S::kHalves; ++h) {
        const auto of_keys = mn_major<T>(box_memory<unsigned char>(h * S::kBox), S::kBox);
        wgmma_begin();
#pragma unroll
        for (int j = 0; j < kOwn / 16; ++j)
          wgmma<T>(sum, of_scores.plus(j * 16 * kBoxRow), of_keys.plus(j * 16 * kBoxRow), j != 0);
        wgmma_commit();
        wgmma_wait<0>(sum);
        if (h == 0) {
          if (thread == 0) store_wait_read<0>();
          sync_named(3, 128);
        }
        if (h == S::kHalves - 1 && thread == 0) barrier_arrive(scores_empty + b);
#pragma unroll
        for (int i = 0; i < 8; ++i)
          st(box_memory<Vec<float, 4>>(S::kSumsAt + (h * 8 + i) * S::kPiece) + thread,
             Vec<float, 4>{{sum[4 * i], sum[4 * i + 1], sum[4 * i + 2], sum[4 * i + 3]}});
      }
      fence_shared_async();
      sync_named(3, 128);
      if (thread == 0) {
        add_box(sums, box_memory<float>(S::kSumsAt), 0, ((batch * p.heads + head) * of_head + w.block) * S::kSumsRows);
        store_commit();
        if (next < steps) {
          barrier_wait(q_empty + t.stage, t.phase ^ 1);
          copy_q();
          barrier_wait(o_empty + t.stage, t.phase ^ 1);
          copy_d_o();
          copied();
        }
      }
      sync_warp();
    }
    if (thread == 0) store_wait<0>();
    return;
  }

  take_registers<kHolderRegisters>();
  const int me = group - 1, lane = lane_id(), warp_key = first + me * 64 + thread / kWarp * 16;
  const int mine_from = first_block(first + me * 64), last_from = seen_from(first + me * 64 + 63);
  const float c = p.scale * kLog2E;
  float of_k[S::kDim / 2], of_v[S::kDim / 2], s[kLoopQueries / 2];  // s: S^T, then g^T
  unsigned weights[kLoopQueries / 16][4];
#pragma unroll
  for (int i = 0; i < S::kDim / 2; ++i) {
    of_k[i] = 0;
    of_v[i] = 0;
  }

  const auto add_to_k = [&](int stage, int buffer) {
    const auto a = k_major<T>(box_memory<unsigned char>(S::kScoresAt + buffer * S::kScores + me * 64 * kBoxRow));
    const auto b = mn_major<T>(box_memory<unsigned char>(S::kQAt + stage * S::kLoop), S::kLoopBox);
#pragma unroll
    for (int j = 0; j < kLoopQueries / 16; ++j) wgmma<T>(of_k, a.plus(j * 32), b.plus(j * 16 * kBoxRow), true);
    wgmma_commit();
  };
  // L or D of the thread's queries 8 n + 2 (lane % 4) and the one after it.
  const auto pair = [&](int at, int n) {
    return ld(box_memory<const Vec<float, 2>>(at + t.stage * S::kRow + n * 32 + lane % 4 * 8));
  };
  // P^T in place of S^T, rounded.
  const auto weigh = [&] {
    const int query = w.block * kLoopQueries + lane % 4 * 2;
    if (w.block * kLoopQueries < last_from) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int from = seen_from(warp_key + h * 8 + lane / 4);
#pragma unroll
        for (int n = 0; n < kLoopQueries / 8; ++n)
#pragma unroll
          for (int e = 0; e < 2; ++e)
            if (query + 8 * n + e < from) s[4 * n + 2 * h + e] = -INFINITY;
      }
    }
#pragma unroll
    for (int n = 0; n < kLoopQueries / 8; ++n) {
      const Vec<float, 2> of = pair(S::kLAt, n);
#pragma unroll
      for (int h = 0; h < 2; ++h)
        weights[n / 2][n % 2 * 2 + h] =
            pack<T>(exp2_approx(fmaf(s[4 * n + 2 * h], c, -of[0])), exp2_approx(fmaf(s[4 * n + 2 * h + 1], c, -of[1])));
    }
  };
  // dS^T from P^T and g^T, into shared memory.
  const int row = thread / kWarp * 16 + lane % 16, scores_at = me * 64 * kBoxRow + box_byte(row, lane / 16 * 8, 0);
  const auto weighed = [&](unsigned(&ds)[4], int j) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const Vec<float, 2> of = pair(S::kDAt, 2 * j + i / 2), weight = unpack<T>(weights[j][i]);
      ds[i] = pack<T>(weight[0] * (s[8 * j + 2 * i] - of[0]), weight[1] * (s[8 * j + 2 * i + 1] - of[1]));
    }
  };
  // Waits until dS of the step before last is no longer read.
  const auto wait_for_scores = [&] { barrier_wait(scores_empty + (w.step & 1), (w.step >> 1 & 1) ^ 1); };
  const auto store_scores = [&](const auto& scores) {
    const int b = w.step & 1;
#pragma unroll
    for (int j = 0; j < kLoopQueries / 16; ++j) {
      unsigned ds[4];
      scores(ds, j);
      // Note: of the swizzled 16-byte piece only two bits depend on j.
      stmatrix<4>(box_memory<T>(S::kScoresAt + b * S::kScores + (scores_at ^ j * 32)), ds);
    }
    fence_shared_async();
    sync_named(1 + me, 128);
    if (thread == 0) barrier_arrive(scores_full + b);
  };
  // Goes on to the next step in which a query sees one of this warpgroup's keys.  In the others dS is zero.  Note: between two
  // such steps there is at most one other, the first of a head.  So dS of the last one is not overwritten, which dK still needs.
  const auto skip = [&] {
    for (; w.step < steps && w.block < mine_from; w.next(), t.next()) {
      barrier_wait(q_full + t.stage, t.phase);
      barrier_wait(o_full + t.stage, t.phase);
      wait_for_scores();
      store_scores([](unsigned(&ds)[4], int) { ds[0] = ds[1] = ds[2] = ds[3] = 0; });
      if (thread == 0) {
        barrier_arrive(q_empty + t.stage);
        barrier_arrive(o_empty + t.stage);
      }
    }
  };

  barrier_wait(own, 0);
  skip();
  if (w.step < steps) {
    barrier_wait(q_full + t.stage, t.phase);
    wgmma_begin();
    over_channels<S, T>(s, 0, S::kQAt + t.stage * S::kLoop, me);
    wgmma_wait<0>(s);
    weigh();
    wait_for_scores();
    barrier_wait(o_full + t.stage, t.phase);
    wgmma_begin();
    over_channels<S, T>(s, S::kTile, S::kGradientAt + t.stage * S::kLoop, me);
    wgmma_wait<0>(s);
    store_scores(weighed);
    int before = t.stage, buffer = w.step & 1;
    w.next();
    t.next();
    skip();
    while (w.step < steps) {
      wgmma_begin();
      over_queries<S, T>(of_v, weights, S::kGradientAt + before * S::kLoop);
      barrier_wait(q_full + t.stage, t.phase);
      over_channels<S, T>(s, 0, S::kQAt + t.stage * S::kLoop, me);
      add_to_k(before, buffer);
      wgmma_wait<1>(s);
      wgmma_wait<1>(of_v);
      if (thread == 0) barrier_arrive(o_empty + before);
      weigh();  // under dK
      // Note: after g it ends a basic block, and ptxas moves the exponentials into the next one.
      if constexpr (kWaitsBefore) wait_for_scores();
      barrier_wait(o_full + t.stage, t.phase);
      wgmma_begin();
      over_channels<S, T>(s, S::kTile, S::kGradientAt + t.stage * S::kLoop, me);
      wgmma_wait<0>(s);
      wgmma_wait<0>(of_k);
      if (thread == 0) barrier_arrive(q_empty + before);
      if constexpr (!kWaitsBefore) wait_for_scores();
      store_scores(weighed);
      before = t.stage;
      buffer = w.step & 1;
      w.next();
      t.next();
      skip();
    }
    wgmma_begin();
    over_queries<S, T>(of_v, weights, S::kGradientAt + before * S::kLoop);
    add_to_k(before, buffer);
    wgmma_wait<0>(of_v);
    wgmma_wait<0>(of_k);
  }
  store_keys<S, T>(of_k, of_v, dk, dv, p, statistics, first, kv_head, batch, me, [&] {
    if (steps > 0) barrier_wait(scores_empty + ((steps - 1) & 1), (steps - 1) >> 1 & 1);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::attention_backward_room
