// SPDX-License-Identifier: Apache-2.0
// Attention by wgmma and tensor copies.  One warp copies Q, up to two tiles ahead, and blocks of K and V into rings of stages.
// Each other warpgroup has 64 queries.  It issues Q K^T of the next block before P V of this one, and computes the weights of the
// next while P V runs.  The warpgroups issue in turns, so that one multiplies while another takes exponentials.  P stays in
// registers. O leaves through a buffer of its own while the next tile begins.  Blocks go from the last key to the first.
#pragma once

#include "cuda/attention_forward/hopper_tiles.cuh"

namespace assay::ASSAY_FLAVOUR::attention_forward_room {

// Sets the scores of hidden keys to -inf.  `row`: the first of the thread's two queries, 8 apart.
template <class S, class T>
__device__ inline void hide(float (&s)[S::kKeys / 2], const Problem<T>& p, int row, int first_key) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int column = first_key + lane_id() % 4 * 2, seen = p.visible(row + 8 * h) - column;
    const int unseen = S::kWindow ? p.first_visible(row + 8 * h) - column : 0;
#pragma unroll
    for (int n = 0; n < S::kKeys / 8; ++n)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        if (8 * n + e >= seen || (S::kWindow && 8 * n + e < unseen)) s[4 * n + 2 * h + e] = -INFINITY;
  }
}

// Replaces scores by weights exp2(c (s - max)).  `shrink`: by how much sums over earlier blocks shrink, exactly 1 while the
// maximum stays.  Note: fmaxf ignores a NaN, which still reaches the sum through its weight.
template <class S>
__device__ inline void weigh(float (&s)[S::kKeys / 2], float (&max)[2], float (&sum)[2], float (&shrink)[2], float c) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    float larger = max[h];
#pragma unroll
    for (int n = 0; n < S::kKeys / 8; ++n) larger = fmaxf(larger, fmaxf(s[4 * n + 2 * h], s[4 * n + 2 * h + 1]));
    larger = fmaxf(larger, shuffle_xor(larger, 1));
    larger = fmaxf(larger, shuffle_xor(larger, 2));
    const float base = larger == -INFINITY ? 0.0f : larger, scaled = -base * c;
    shrink[h] = exp2_approx((max[h] - base) * c);
    max[h] = larger;
    float total = 0;
#pragma unroll
    for (int n = 0; n < S::kKeys / 8; ++n) {
#pragma unroll
      for (int e = 4 * n + 2 * h; e < 4 * n + 2 * h + 2; ++e) s[e] = exp2_approx(fmaf(s[e], c, scaled));
      total += s[4 * n + 2 * h] + s[4 * n + 2 * h + 1];
    }
    sum[h] = fmaf(sum[h], shrink[h], total);
  }
}

template <class T, int N>
__device__ inline void pack_weights(unsigned (&p)[N / 8][4], const float (&s)[N]) {
#pragma unroll
  for (int i = 0; i < N / 2; ++i) p[i / 4][i % 4] = pack<T>(s[2 * i], s[2 * i + 1]);
}

// Stores O and L of a tile's 64 queries.
template <class S, class T>
__device__ inline void finish(const Problem<T>& p, const HopperTile& t, const TensorMap& out, const typename S::Output& o,
                              const float (&max)[2], const float (&sum)[2], int me) {
  const int thread = static_cast<int>(threadIdx.x) % 128, warp = thread / kWarp, lane = lane_id();
  const int first = t.first_query + me * 64, warp_query = first + warp * 16;
  float inverse[2];
  unsigned nan[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    float total = sum[h];
    total += shuffle_xor(total, 1);
    total += shuffle_xor(total, 2);
    bool bad = false;
#pragma unroll
    for (int n = 0; n < S::kDim / 8; ++n)
#pragma unroll
      for (int e = 4 * n + 2 * h; e < 4 * n + 2 * h + 2; ++e) bad = bad || o[e] != o[e];
    // Note: a row without a visible key is 0, and a NaN among its scores has made the total NaN: neither needs mending.
    nan[h] = ballot(bad && total > 0);
    inverse[h] = total == 0 ? 0.0f : 1.0f / total;
    const int query = warp_query + h * 8 + lane / 4;
    if (lane % 4 == 0 && query < p.queries)
      st(S::kPacked ? p.lse_of(t.batch, t.head, query) : p.lse.of(t.batch, t.head) + query * p.lse.seq,
         total == 0 ? -INFINITY : fmaf(max[h], S::kCapped && p.cap > 0 ? 1.0f : p.scale, logf(total)));
  }
  if (thread == 0) store_wait_read<0>();
  sync_named(1 + S::kGroups + me, 128);
  unsigned char* const staging = box_memory<unsigned char>(S::kOutAt);
#pragma unroll
  for (int i = 0; i < S::kDim / 16; ++i) {
    unsigned words[4];
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const float by = inverse[w % 2], *const v = o + 8 * i + 2 * w;
      words[w] = pack<T>(by == 0 ? 0.0f : v[0] * by, by == 0 ? 0.0f : v[1] * by);
    }
    stmatrix<4>(reinterpret_cast<T*>(staging + box_byte(me * 64 + warp * 16 + lane % 16, 16 * i + lane / 16 * 8, S::kBoxQ)),
                words);
  }
  // Note: most often the NaN comes from a visible key.  A row is mended only if a key of its blocks that it does not see could be
  // why.
  const auto spoils = [&](int from, int to) {
    return special_rows(p.v.of(t.batch, t.head / p.group), p.v.seq, from, to < t.values ? to : t.values, p.dim);
  };
  if ((nan[0] | nan[1]) != 0 && (spoils(p.visible(warp_query), t.end * S::kKeys) ||
                                 (S::kWindow && spoils(t.begin * S::kKeys, p.first_visible(warp_query + 15))))) {
    sync_warp();
    mend_rows<S::kDim, S::kWindow, S::kCapped>(p, t.batch, t.head, warp_query, nan, max, staging, me * 64 + warp * 16, S::kBoxQ);
  }
  const int left = p.queries - first;
  if (!(S::kPacked && p.q_starts != nullptr) || left >= 64) {
    fence_shared_async();
    sync_named(1 + S::kGroups + me, 128);
    if (thread == 0) {
      for (int h = 0; h < S::kHalves; ++h)
        store_box(out, staging + h * S::kBoxQ + me * 64 * kBoxRow, h * 64, t.q_row + first, t.head, t.batch);
      store_commit();
    }
  } else {
    // Note: what follows in memory belongs to the next sequence.
    sync_named(1 + S::kGroups + me, 128);
    constexpr int kPacks = S::kDim / kChunk;
    for (int i = thread; i < left * kPacks; i += 128) {
      const int row = i / kPacks, channel = i % kPacks * kChunk;
      if (channel < p.dim)
        st(reinterpret_cast<Vec<T, kChunk>*>(p.o.of(t.batch, t.head) + (first + row) * p.o.seq + channel),
           ld(reinterpret_cast<const Vec<T, kChunk>*>(staging + box_byte(me * 64 + row, channel, S::kBoxQ))));
    }
  }
}

template <class S, class T>
__device__ inline void attend(const TensorMap& out, const Problem<T>& all, const Schedule& schedule, int me) {
  constexpr int kRead = 4 * S::kHalves;  // steps of 16 channels
  const HopperBarriers<S> barriers;
  const int thread = static_cast<int>(threadIdx.x) % 128;
  const bool lead = thread == 0;
  const float c = weight_factor<S::kCapped>(all);
  hopper_gemm::Turn<2> of_q;
  hopper_gemm::Turn<S::kStages> of_k, of_v;
  if (me == 0) arrive_named(1, 256);
  const auto next = [&](PackedTile& taken) {
    barrier_wait(barriers.q_full + of_q.stage, of_q.phase);
    taken = ld(box_memory<PackedTile>(S::kTakenAt) + of_q.stage);
    return taken.sequence >= 0;
  };
  for_tiles<S>(all, schedule, next, [&](const Problem<T>& p, const HopperTile& t) {
    barrier_wait(barriers.q_full + of_q.stage, of_q.phase);
    const int first = t.first_query + me * 64, row = first + thread / kWarp * 16 + lane_id() / 4;
    if constexpr (S::kSpread) {
      if (p.queries - first <= 0) return pass_tile<S>(t, of_q, of_k, of_v, me);
    }
    typename S::Output o;
    typename S::Scores s;
    unsigned weights[S::kKeys / 16][4];
    float max[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0}, shrink[2];
#pragma unroll
    for (int i = 0; i < S::kDim / 2; ++i) o[i] = 0;

    const auto issue_scores = [&] {
      const auto q = k_major<T>(box_memory<unsigned char>(of_q.stage * S::kQ + me * 64 * kBoxRow));
      const auto k = k_major<T>(box_memory<unsigned char>(S::kKAt + of_k.stage * S::kK));
#pragma unroll
      for (int j = 0; j < kRead; ++j)
        wgmma<T>(s, q.plus(j / 4 * S::kBoxQ + j % 4 * 32), k.plus(j / 4 * S::kBoxK + j % 4 * 32), j != 0);
      wgmma_commit();
    };
    const auto issue_values = [&] {
      const auto v = mn_major<T>(box_memory<unsigned char>(S::kVAt + of_v.stage * S::kK), S::kBoxK);
#pragma unroll
      for (int j = 0; j < S::kKeys / 16; ++j) wgmma<T>(o, weights[j], v.plus(j * 16 * kBoxRow), true);
      wgmma_commit();
    };
    const auto scores_over = [&](int block) {
      if (lead) barrier_arrive(barriers.k_empty + of_k.stage);
      of_k.next();
      if (S::kCapped && p.cap > 0) {
#pragma unroll
        for (int i = 0; i < S::kKeys / 2; ++i) s[i] = capped<true>(p, s[i]);
      }
      const int end = (block + 1) * S::kKeys;
      if (end > p.visible(first) || (S::kWindow && end - S::kKeys < p.first_visible(first + 63)))
        hide<S>(s, p, row, end - S::kKeys);
      weigh<S>(s, max, sum, shrink, c);
    };
    const auto values_over = [&] {
      wgmma_wait<0>(o);
      if (lead) barrier_arrive(barriers.v_empty + of_v.stage);
      of_v.next();
    };

    if (t.end > t.begin) {
      barrier_wait(barriers.k_full + of_k.stage, of_k.phase);
      wgmma_begin();
      issue_scores();
      wgmma_wait<0>(s);
      scores_over(t.end - 1);
      pack_weights<T>(weights, s);
      for (int block = t.end - 2; block >= t.begin; --block) {
        barrier_wait(barriers.k_full + of_k.stage, of_k.phase);
        sync_named(1 + me, 256);
        wgmma_begin();
        issue_scores();
        barrier_wait(barriers.v_full + of_v.stage, of_v.phase);
        issue_values();
        arrive_named(1 + (me + 1) % S::kGroups, 256);
        wgmma_wait<1>(s);
        scores_over(block);
        values_over();
#pragma unroll
        for (int i = 0; i < S::kDim / 2; ++i) o[i] *= shrink[i / 2 % 2];
        pack_weights<T>(weights, s);
      }
      barrier_wait(barriers.v_full + of_v.stage, of_v.phase);
      wgmma_begin();
      issue_values();
      values_over();
    }
    finish<S>(p, t, out, o, max, sum, me);
    // Note: finish() has shown that all threads of the warpgroup have read which tile this is.
    if (lead) barrier_arrive(barriers.q_empty + of_q.stage);
    of_q.next();
  });
  if (lead) store_wait<0>();
}

template <class S, class T>
__global__ void __launch_bounds__(S::kThreads, 1)
    attention_forward_hopper(const __grid_constant__ TensorMap q, const __grid_constant__ TensorMap k,
                             const __grid_constant__ TensorMap v, const __grid_constant__ TensorMap out, const Problem<T> all,
                             const Schedule schedule, const PackedOrder order) {
  if (threadIdx.x == 0) {
    prefetch_map(q);
    prefetch_map(k);
    prefetch_map(v);
    prefetch_map(out);
    HopperBarriers<S>().init();
  }
  sync_block();
  next_grid_may_start();
  wait_for_previous_grid();
  // Note: shuffled, the compiler knows that a warp has one group, and does not serialise products behind a branch by it.
  const int group = S::kSpread ? shuffle(static_cast<int>(threadIdx.x) / 128, 0) : static_cast<int>(threadIdx.x) / 128;
  if (group == 0) {
    give_registers<S::kCopierRegisters>();
    if (threadIdx.x == 0) copy_tiles<S>(q, k, v, all, schedule, order);
  } else {
    take_registers<S::kOtherRegisters>();
    attend<S>(out, all, schedule, group - 1);
  }
}

// --- On the host ------------------------------------------------------------------------------------------------------

// `room`: order_bytes() of workspace, for packed sequences.
template <class S, class T>
void launch_hopper(const attention_forward::Args& a, const Launch& l, void* room) {
  const Problem<T> p = problem<T>(a);
  // Without a mask one head after the other: the K and V that a round reads first are then those of few heads.
  const Schedule s = schedule(p, S::kQueries, !p.masked());
  const std::int64_t tiles = static_cast<std::int64_t>(s.tiles) * s.heads;
  const bool keys = a.k.size() > 0;  // without any, no box of K or V is copied
  const int blocks = static_cast<int>(std::min<std::int64_t>(tiles, multiprocessors()));
  PackedOrder order;
  if constexpr (S::kPacked) {
    if (a.packed) {
      order = PackedOrder::at(room, a.q.shape[0]);
      launch(attention_forward_order_sequences<T, S::kQueries>,
             {.grid = dim3(1), .block = dim3(kOrderThreads), .dependent = l.after}, l.stream, p, blocks, order);
    }
  }
  launch(attention_forward_hopper<S, T>,
         {.grid = dim3(static_cast<unsigned>(blocks)),
          .block = dim3(S::kThreads),
          .shared_bytes = S::kShared,
          .dependent = l.after || a.packed},
         l.stream, head_map<T>(a.q, S::kQueries, a.packed), head_map<T>(keys ? a.k : a.q, S::kKeys, a.packed),
         head_map<T>(keys ? a.v : a.q, S::kKeys, a.packed), head_map<T>(a.o, 64, a.packed), p, s, order);
}

}  // namespace assay::ASSAY_FLAVOUR::attention_forward_room
