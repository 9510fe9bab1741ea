// SPDX-License-Identifier: Apache-2.0
// Attention by wgmma (hopper_flash.cuh) whose tiles follow each other without a gap: the first scores of a tile are multiplied
// together with the last values of the tile before it, whose outputs leave then.  Every tile has a block of keys, and every
// warpgroup queries in it.
#pragma once

#include "cuda/attention_forward/hopper_flash.cuh"

namespace assay::ASSAY_FLAVOUR::attention_forward_room {

template <class S, class Steps, class T>
__device__ inline void attend_chained(const TensorMap& out, const Problem<T>& p, const Schedule& schedule, int me) {
  constexpr int kRead = 4 * S::kHalves;  // steps of 16 channels
  const HopperBarriers<S> barriers;
  const int thread = static_cast<int>(threadIdx.x) % 128;
  const bool lead = thread == 0;
  const float c = weight_factor<false>(p);
  hopper_gemm::Turn<2> of_q;
  hopper_gemm::Turn<S::kStages> of_k, of_v;
  typename S::Output o;
  typename S::Scores s;
  unsigned weights[S::kKeys / 16][4];
  float max[2], sum[2], shrink[2];
  HopperTile before{};
  bool chained = false;

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
  const auto release_k = [&] {
    Steps::scores_done(barriers.k_empty + of_k.stage, lead);
    of_k.next();
  };
  const auto values_over = [&] {
    wgmma_wait<0>(o);
    if (lead) barrier_arrive(barriers.v_empty + of_v.stage);
    of_v.next();
  };
  const auto let_q_go = [&] {
    if (lead) barrier_arrive(barriers.q_empty + of_q.stage);
    of_q.next();
  };

  if (me == 0) arrive_named(1, 256);
  for_tiles<S>(p, schedule, [&](const Problem<T>&, const HopperTile& t) {
    const int first = t.first_query + me * 64, row = first + thread / kWarp * 16 + lane_id() / 4;
    const auto weigh_block = [&](int block) {
      const int end = (block + 1) * S::kKeys;
      if (Steps::cut(end, p.visible(first), p.visible(first + 63))) hide<S, Steps>(s, p, row, end - S::kKeys);
      weigh<S, Steps>(s, max, sum, shrink, c);
    };
    if (chained) {
      let_q_go();
      Steps::await_values(barriers.v_full + of_v.stage, of_v.phase);
      barrier_wait(barriers.q_full + of_q.stage, of_q.phase);
      barrier_wait(barriers.k_full + of_k.stage, of_k.phase);
      wgmma_begin();
      issue_values();
      issue_scores();
      values_over();
      wgmma_wait<0>(s);
      release_k();
      finish<S, Steps>(p, before, out, o, max, sum, me);
    } else {
      barrier_wait(barriers.q_full + of_q.stage, of_q.phase);
      barrier_wait(barriers.k_full + of_k.stage, of_k.phase);
      wgmma_begin();
      issue_scores();
      wgmma_wait<0>(s);
      release_k();
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) max[h] = -INFINITY, sum[h] = 0;
#pragma unroll
    for (int i = 0; i < S::kDim / 2; ++i) o[i] = 0;
    weigh_block(t.end - 1);
    pack_weights<T>(weights, s);
    for (int block = t.end - 2; block >= t.begin; --block) {
      barrier_wait(barriers.k_full + of_k.stage, of_k.phase);
      sync_named(1 + me, 256);
      wgmma_begin();
      issue_scores();
      Steps::await_values(barriers.v_full + of_v.stage, of_v.phase);
      issue_values();
      arrive_named(1 + (me + 1) % S::kGroups, 256);
      wgmma_wait<1>(s);
      release_k();
      weigh_block(block);
      values_over();
      if (Steps::rescales(shrink[0] != 1 || shrink[1] != 1)) {
#pragma unroll
        for (int i = 0; i < S::kDim / 2; ++i) o[i] = Steps::rescaled(o[i], shrink[i / 2 % 2]);
      }
      pack_weights<T>(weights, s);
    }
    before = t, chained = true;
  });
  if (chained) {
    Steps::await_values(barriers.v_full + of_v.stage, of_v.phase);
    wgmma_begin();
    issue_values();
    values_over();
    finish<S, Steps>(p, before, out, o, max, sum, me);
  }
  if (lead) store_wait<0>();
}

template <class S, class Steps, class T>
__global__ void __launch_bounds__(S::kThreads, 1)
    attention_forward_chained(const __grid_constant__ TensorMap q, const __grid_constant__ TensorMap k,
                              const __grid_constant__ TensorMap v, const __grid_constant__ TensorMap out, const Problem<T> all,
                              const Schedule schedule) {
  if (threadIdx.x == 0) {
    prefetch_map(q), prefetch_map(k), prefetch_map(v), prefetch_map(out);
    HopperBarriers<S>().init();
  }
  sync_block();
  next_grid_may_start();
  wait_for_previous_grid();
  const int group = shuffle(static_cast<int>(threadIdx.x) / 128, 0);
  if (group == 0) {
    give_registers<S::kCopierRegisters>();
    if (threadIdx.x == 0) copy_tiles<S>(q, k, v, all, schedule);
  } else {
    take_registers<S::kOtherRegisters>();
    attend_chained<S, Steps>(out, all, schedule, group - 1);
  }
}

// Whether every tile has a block of keys, and every warpgroup queries in it.
template <class S>
bool chains(const attention_forward::Args& a) {
  const std::int64_t queries = a.q.shape[1], keys = a.k.shape[1];
  const bool first_sees = a.mask != attention_forward::Mask::causal || queries <= keys;
  return keys > 0 && first_sees && a.window == 0 && a.softcap == 0 && !a.packed && queries % S::kQueries == 0;
}

template <class S, class Steps, class T>
void launch_chained(const attention_forward::Args& a, const Launch& l) {
  const Problem<T> p = problem<T>(a);
  const Schedule s = schedule(p, S::kQueries, !p.masked());
  const std::int64_t tiles = static_cast<std::int64_t>(s.tiles) * s.heads;
  launch(attention_forward_chained<S, Steps, T>,
         {.grid = dim3(static_cast<unsigned>(std::min<std::int64_t>(tiles, multiprocessors()))),
          .block = dim3(S::kThreads),
          .shared_bytes = S::kShared,
          .dependent = l.after},
         l.stream, head_map<T>(a.q, S::kQueries, false), head_map<T>(a.k, S::kKeys, false), head_map<T>(a.v, S::kKeys, false),
         head_map<T>(a.o, 64, false), p, s);
}

}  // namespace assay::ASSAY_FLAVOUR::attention_forward_room
