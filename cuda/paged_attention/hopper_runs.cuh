// SPDX-License-Identifier: Apache-2.0
// Attention over pages by tensor copies, where a block takes a run of splits of one key/value head: the ring of stages
// (hopper_pages.cuh) is filled for the next split while the warps join the last one.  Blocks with runs come first, and single
// splits at the end fill what they leave.  A split has the bits that it has alone.
#pragma once

#include "cuda/paged_attention/hopper_pages_run.cuh"

namespace assay::ASSAY_FLAVOUR::paged_attention_room {

// The warps join four rows at a time, beside the ring.
template <int Dim, int Rows>
struct RunsShape : PagesShape<Dim, Rows> {
  using Base = PagesShape<Dim, Rows>;
  static constexpr int kJoined = 4, kOutputsAt = Base::kWeightsAt + kPagesWarps * Base::kWeights;
  static constexpr int kStatsAt = kOutputsAt + kPagesWarps * kJoined * Base::kPitch * 4;
  static constexpr int kShared = kStatsAt + kPagesWarps * kJoined * 8;
  static_assert(kOutputsAt % 16 == 0 && Base::kBlocks * (kShared + 1024) <= 228 * 1024);
};

// Of the splits of a sequence, the first `runs` times `run` are taken `run` at a time, the others one at a time.
struct RunsWork : PagesWork {
  int run, runs;
  constexpr int singles() const { return count - run * runs; }
};

template <class S>
__device__ inline void start_rows(PagesRows<S>& r) {
#pragma unroll
  for (int n = 0; n < S::kSets; ++n) {
#pragma unroll
    for (int i = 0; i < S::kDim / 16; ++i)
#pragma unroll
      for (int e = 0; e < 4; ++e) r.o[i][n][e] = 0;
#pragma unroll
    for (int e = 0; e < 2; ++e) r.max[n][e] = -INFINITY, r.sum[n][e] = 0;
  }
}

// Joins the warps of a block, for one split.
template <class S, class T>
__device__ inline void join_split(PagesRows<S>& r, const Problem<T>& p, const RunsWork& w, const PagesBlock& block) {
  const int lane = lane_id(), rows = block.rows, pieces = p.dim / 4;
  const PagesPlace<T> place{block.batch, block.kv};
  auto* const stats = box_memory<Vec<float, 2>>(S::kStatsAt);
  float* const outputs = box_memory<float>(S::kOutputsAt);
#pragma unroll
  for (int n = 0; n < S::kSets; ++n)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int first = 8 * n + 4 * h;
      if (first >= rows) continue;
      sync_block();  // the rows joined before have been read
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        float total = r.sum[n][e];
#pragma unroll
        for (int offset = 4; offset < kWarp; offset *= 2) total += shuffle_xor(total, offset);
        const int row = lane % 2 * 2 + e, at = warp_id() * S::kJoined + row;
        if (lane % 4 / 2 != h || first + row >= rows) continue;
        if (lane < 4) st(stats + at, Vec<float, 2>{{r.max[n][e], total}});
#pragma unroll
        for (int i = 0; i < S::kDim / 16; ++i)
#pragma unroll
          for (int j = 0; j < 2; ++j) st(outputs + at * S::kPitch + 16 * i + 8 * j + lane / 4, r.o[i][n][2 * j + e]);
      }
      sync_block();
      const int some = rows - first < S::kJoined ? rows - first : S::kJoined;
      for (int i = static_cast<int>(threadIdx.x); i < some * pieces; i += kPagesThreads) {
        const int row = i / pieces, channel = i % pieces * 4;
        float all = -INFINITY, total = 0, o[4] = {};
#pragma unroll
        for (int k = 0; k < kPagesWarps; ++k) all = fmaxf(all, ld(stats + k * S::kJoined + row)[0]);
#pragma unroll
        for (int k = 0; k < kPagesWarps; ++k) {
          const auto of = ld(stats + k * S::kJoined + row);
          const auto v = ld(reinterpret_cast<const Vec<float, 4>*>(outputs + (k * S::kJoined + row) * S::kPitch + channel));
          const float factor = shrunk(of[0], all);
          total = fmaf(of[1], factor, total);
#pragma unroll
          for (int e = 0; e < 4; ++e) o[e] = fmaf(v[e], factor, o[e]);
        }
        if (block.length <= split_positions(block.length)) {
          place.store(p, block.first + first + row, channel, o, all, total);
        } else {
          const std::int64_t part = place.part(p, w, block.first + first + row, block.split);
          st(reinterpret_cast<Vec<float, 4>*>(w.parts + part * p.dim + channel), Vec<float, 4>{{o[0], o[1], o[2], o[3]}});
          if (channel == 0) st(stats_of(p, w, part), Vec<float, 2>{{all, total}});
        }
      }
    }
}

template <class S, class Steps, class T>
__global__ void __launch_bounds__(kPagesThreads, S::kBlocks)
    paged_attention_runs(const __grid_constant__ TensorMap k, const __grid_constant__ TensorMap v, const Problem<T> p,
                         const RunsWork w) {
  next_grid_may_start();
  if (threadIdx.x == 0) prefetch_map(k), prefetch_map(v);
  wait_for_previous_grid();
  const int lane = lane_id(), warp = warp_id(), all_rows = p.queries * p.group;
  // Note: heads are innermost, since neighbours in memory should be read at about the same time.
  const int of_runs = p.batches * p.kv_heads * w.chunks * w.runs;
  const bool single = static_cast<int>(blockIdx.x) >= of_runs;
  int rest = static_cast<int>(blockIdx.x) - (single ? of_runs : 0);
  PagesBlock block{};
  block.first = rest % w.chunks * S::kRows, rest /= w.chunks;
  block.rows = all_rows - block.first < S::kRows ? all_rows - block.first : S::kRows;
  block.kv = rest % p.kv_heads, rest /= p.kv_heads;
  const int each_batch = single ? w.singles() : w.runs, run = single ? 1 : w.run;
  block.batch = rest / each_batch;
  block.split = single ? w.run * w.runs + rest % each_batch : rest % each_batch * w.run;
  // The warp's first pages, if the sequence is about as long as its table: looked up together with its length.
  const int room = p.max_pages * p.page_size, guess = block.split * split_positions(room);
  block.end = room;
  int page = warp < S::kStages ? page_of(p, w, block, guess + warp * kStagePositions) : 0;
  block.length = ld(p.lengths + block.batch);
  const int each = split_positions(block.length);
  block.begin = block.split * each;
  block.end = block.length - block.begin < run * each ? block.length : block.begin + run * each;
  if (block.begin >= block.end && block.split > 0) return;  // the first split handles an empty sequence
  const PagesRing<S> ring;
  if (threadIdx.x == 0) {
    for (int s = 0; s < S::kStages; ++s) barrier_init(ring.full + s, 1), barrier_init(ring.empty + s, kPagesWarps);
    barriers_ready();
  }
  sync_block();
  if (const int first = block.begin + warp * kStagePositions; warp < S::kStages && first < block.end) {
    if (block.begin != guess) page = page_of(p, w, block, first);
    copy_stage<S, Steps>(k, v, p, w, block, warp, first, page);
  }

  PagesRows<S> r;
#pragma unroll
  for (int n = 0; n < S::kSets; ++n) {
    const int row = 8 * n + lane / 4, head = block.kv * p.group + (block.first + row) % p.group;
    const T* const q = p.q.of(block.batch, block.query(p, row), head) + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < S::kDim / 16; ++i)
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int channel = 16 * i + 8 * j;
        r.q[i][n][j] = row < block.rows && channel < p.dim ? ld(reinterpret_cast<const unsigned*>(q + channel)) : 0;
      }
  }
  // Positions of the warp lie in one box, which has a multiple of 16.
  const int of_box = warp * kWarpPositions / w.box * w.box, in_box = warp * kWarpPositions - of_box;
  const int row_at = (of_box * S::kHalves + in_box) * kBoxRow;
  hopper_gemm::Turn<S::kStages> turn;
  int base = block.begin;
#pragma unroll 1
  do {
    start_rows(r);
    const int end = block.end - base < each ? block.end : base + each;
#pragma unroll 1
    for (; base < end; base += kStagePositions, turn.next()) {
      const int position = base + warp * kWarpPositions, ahead = base + S::kStages * kStagePositions;
      // Note: looked up now, the page is there when the stage is free.
      const bool copies = base / kStagePositions % kPagesWarps == warp && ahead < block.end;
      if (copies) page = page_of(p, w, block, ahead);
      Steps::await(ring.full + turn.stage, turn.phase);
      if (position < block.end) add_positions<S, Steps>(r, p, w, block, turn.stage, row_at, position, ring.empty + turn.stage);
      sync_warp();
      Steps::values_done(ring.empty + turn.stage, lane);
      if (copies) {
        barrier_wait(ring.empty + turn.stage, turn.phase);
        copy_stage<S, Steps>(k, v, p, w, block, turn.stage, ahead, page);
      }
    }
    join_split(r, p, w, block);
    ++block.split;
  } while (base < block.end);
}

// Joins the splits of a sequence, as paged_attention_join_pages does, whose bits it gives; what a warp adds first is read before
// the maximum is known.
template <class Steps, class T>
__global__ void __launch_bounds__(kPagesThreads) paged_attention_join_runs(const Problem<T> p, const PagesWork w) {
  constexpr int kFirst = 4;
  next_grid_may_start();
  const int all_rows = p.queries * p.group, row = static_cast<int>(blockIdx.x) % all_rows, lane = lane_id(), warp = warp_id();
  const int rest = static_cast<int>(blockIdx.x) / all_rows;
  const PagesPlace<T> place{rest / p.kv_heads, rest % p.kv_heads};
  const int length = ld(p.lengths + place.batch), each = split_positions(length);
  wait_for_previous_grid();
  if (length <= each) return;  // its only block has stored the result
  const int used = (length + each - 1) / each, channel = lane * 4;
  const std::int64_t first = place.part(p, w, row, 0);
  const auto* const stats = stats_of(p, w, first);
  const auto* const outputs = reinterpret_cast<const Vec<float, 4>*>(w.parts + first * p.dim + (channel < p.dim ? channel : 0));
  const auto output = [&](int s) { return ld(outputs + static_cast<std::int64_t>(s) * (p.dim / 4)); };

  Vec<float, 2> of[kFirst] = {};
  Vec<float, 4> v[kFirst] = {};
#pragma unroll
  for (int i = 0; i < kFirst; ++i)
    if (const int s = warp + i * kPagesWarps; s < used) of[i] = ld(stats + s), v[i] = output(s);
  float all = -INFINITY, total = 0, o[4] = {};
  for (int s = lane; s < used; s += kWarp) all = fmaxf(all, ld(stats + s)[0]);
  all = butterfly(all, [](float a, float b) { return fmaxf(a, b); });
  const auto add = [&](const Vec<float, 2>& one, const Vec<float, 4>& values) {
    const float factor = Steps::part_factor(one[0], all);
    total = fmaf(one[1], factor, total);
#pragma unroll
    for (int e = 0; e < 4; ++e) o[e] = fmaf(values[e], factor, o[e]);
  };
#pragma unroll
  for (int i = 0; i < kFirst; ++i)
    if (warp + i * kPagesWarps < used) add(of[i], v[i]);
#pragma unroll 4
  for (int s = warp + kFirst * kPagesWarps; s < used; s += kPagesWarps) add(ld(stats + s), output(s));
  auto* const sums = shared_memory<Vec<float, 4>>();
  auto* const totals = shared_memory<float>(kPagesThreads * 16);
  st(sums + threadIdx.x, Vec<float, 4>{{o[0], o[1], o[2], o[3]}});
  if (lane == 0) st(totals + warp, total);
  sync_block();
  if (warp > 0 || channel >= p.dim) return;
#pragma unroll
  for (int k = 1; k < kPagesWarps; ++k) {
    const auto more = ld(sums + k * kWarp + lane);
    total += ld(totals + k);
#pragma unroll
    for (int e = 0; e < 4; ++e) o[e] += more[e];
  }
  place.store(p, row, channel, o, all, total);
}

// Runs for which enough single splits are left: of 4 splits where there are many, of 2, or none.  kLongest: 1, 2 or 4.
template <int kLongest>
void set_runs(RunsWork& w, std::int64_t heads) {
  const std::int64_t at_once = 3 * multiprocessors(), rounds = heads * w.count / at_once;
  w.run = static_cast<int>(std::min<std::int64_t>(kLongest, rounds >= 8 ? 4 : rounds >= 4 ? 2 : 1));
  w.runs = w.run == 1 ? 0 : w.count * (w.run == 4 ? 3 : 2) / 4 / w.run;
}

template <class S, class Steps, int kLongest, class T>
void launch_runs(const paged_attention::Args& a, const Launch& l) {
  const Problem<T> p = problem<T>(a);
  const bool halves = p.dim == S::kDim;
  const int box = std::gcd(p.page_size, kStagePositions);
  RunsWork w{};
  w.count = static_cast<int>(most_splits(a)), w.chunks = static_cast<int>(ceil_div(p.queries * p.group, S::kRows));
  w.box = box, w.copies = halves ? 1 : S::kHalves, w.parts = static_cast<float*>(l.workspace);
  w.scale_log2e = static_cast<float>(a.scale_used() * 1.4426950408889634);
  const std::int64_t heads = std::int64_t{p.batches} * p.kv_heads * w.chunks;
  set_runs<kLongest>(w, heads);
  launch(paged_attention_runs<S, Steps, T>,
         {.grid = dim3(static_cast<unsigned>(heads * (w.runs + w.singles()))),
          .block = dim3(kPagesThreads),
          .shared_bytes = S::kShared,
          .dependent = l.after},
         l.stream, pool_map<T>(a.k_pool, box, halves), pool_map<T>(a.v_pool, box, halves), p, w);
  if (w.count > 1)
    launch(paged_attention_join_runs<Steps, T>,
           {.grid = dim3(static_cast<unsigned>(std::int64_t{p.batches} * p.queries * p.heads)),
            .block = dim3(kPagesThreads),
            .shared_bytes = kPagesThreads * 16 + kPagesWarps * 4,
            .dependent = true},
           l.stream, p, static_cast<const PagesWork&>(w));
}

}  // namespace assay::ASSAY_FLAVOUR::paged_attention_room
