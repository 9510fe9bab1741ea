// SPDX-License-Identifier: Apache-2.0
// Attention over pages by tensor copies.  A block takes one split of one key/value head and up to 16 of the queries that share
// it. Boxes, a page or a part of one each, are copied into a ring of stages of 64 positions.  Each of four warps has 16 positions
// of every stage and a softmax of its own; they take turns to copy the next stage.  Three blocks share a multiprocessor: while
// one begins or ends, the copies of the others are in flight.  How a sequence is split depends on its own length alone, so it has
// the same bits in any batch.
#pragma once

#include "cuda/paged_attention/hopper_pages_work.cuh"

namespace assay::ASSAY_FLAVOUR::paged_attention_room {

// Dim: channels a row has room for.  Rows: queries.
template <int Dim, int Rows>
struct PagesShape {
  static constexpr int kDim = Dim, kRows = Rows, kSets = Rows / 8, kHalves = Dim / 64, kBlocks = 3;
  static constexpr int kTile = kStagePositions * kHalves * kBoxRow, kStage = 2 * kTile, kStages = 64 * 1024 / kStage;
  static constexpr int kBarriersAt = kStages * kStage, kWeightsAt = kBarriersAt + 128;
  static constexpr int kWeights = 16 * kWarpPositions * kSets, kShared = kWeightsAt + kPagesWarps * kWeights;
  // At the end the ring holds what the warps join: outputs [warp, row, channel], then maxima and sums [warp, row].
  static constexpr int kPitch = Dim + 4, kStatsAt = kPagesWarps * Rows * kPitch * 4;
  static_assert(kStages <= kPagesWarps && kStatsAt + kPagesWarps * Rows * 8 <= kBarriersAt &&
                kBlocks * (kShared + 1024) <= 228 * 1024);
};

template <class S>
struct PagesRing {
  Barrier *full, *empty;
  __device__ PagesRing() : full(box_memory<Barrier>(S::kBarriersAt)), empty(full + S::kStages) {}
};

// What a block works on: queries from row `first` on, of the queries that share a key/value head, against positions [begin, end).
struct PagesBlock {
  int batch, kv, first, rows, split, begin, end, length;
  // The query of a row of the block, which sees positions up to `seen`.
  template <class T>
  __device__ int query(const Problem<T>& p, int row) const {
    return (first + row) / p.group;
  }
  template <class T>
  __device__ int seen(const Problem<T>& p, int query) const {
    const int visible = p.visible(length, query);
    return visible < end ? visible : end;
  }
};

// The page of the lane's box in the stage that begins at position `base`.
template <class T>
__device__ inline int page_of(const Problem<T>& p, const PagesWork& w, const PagesBlock& block, int base) {
  const int mine = lane_id() * w.box, position = base + mine;
  return mine < kStagePositions && position < block.end ? ld(p.table_of(block.batch) + p.entry(position)) : 0;
}

// A warp copies what begins at position `base`.
template <class S, class T>
__device__ inline void copy_stage(const TensorMap& k, const TensorMap& v, const Problem<T>& p, const PagesWork& w,
                                  const PagesBlock& block, int stage, int base, int page) {
  Barrier* const full = PagesRing<S>().full + stage;
  const int mine = lane_id() * w.box, position = base + mine, slot = position - p.entry(position) * p.page_size;
  if (mine == 0) {
    const int left = block.end - base < kStagePositions ? block.end - base : kStagePositions, boxes = (left + w.box - 1) / w.box;
    barrier_arrive_expect(full, boxes * w.box * 2 * S::kHalves * kBoxRow);
  }
  sync_warp();
  if (mine >= kStagePositions || position >= block.end) return;
  for (int i = 0; i < w.copies; ++i) {
    auto* const to = box_memory<unsigned char>(stage * S::kStage + (mine * S::kHalves + i * w.box) * kBoxRow);
    copy_box(to, k, full, i * 64, slot, 0, block.kv, page);
    copy_box(to + S::kTile, v, full, i * 64, slot, 0, block.kv, page);
  }
}

// Queries are the columns of products by mma.  A lane multiplies query lane / 4 of each set of 8, and keeps what belongs to
// queries 2 (lane % 4) and the one after it.
template <class S>
struct PagesRows {
  unsigned q[S::kDim / 16][S::kSets][2];
  float o[S::kDim / 16][S::kSets][4], max[S::kSets][2], sum[S::kSets][2];
};

// Where the lane's row of a box has 16 bytes: channels 16 pair + 8 odd.  64 channels of a box take `half` bytes.
__device__ inline int chunk_byte(int half, int pair, int odd) {
  return pair / 4 * half + ((pair % 4 * 2 + odd) ^ (lane_id() & 7)) * 16;
}

// Adds the 16 values at `values`; kApart: only the first `seen` of them, for query `one`.
template <class S, bool kApart, class T>
__device__ inline void add_values(PagesRows<S>& r, const Problem<T>& p, const PagesBlock& block,
                                  const unsigned (&weights)[2 * S::kSets], const unsigned char* values, int half, int seen,
                                  int one) {
  unsigned kept[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int left = seen - 8 * i - lane_id() % 4 * 2;
    kept[i] = left > 1 ? 0xffffffffu : left == 1 ? 0xffffu : 0;
  }
#pragma unroll
  for (int i = 0; i < S::kDim / 16; ++i) {
    unsigned v[4];
    ldmatrix_trans<4>(v, reinterpret_cast<const T*>(values + chunk_byte(half, i, lane_id() / 8 % 2)));
    if constexpr (kApart) {
      v[0] &= kept[0];
      v[1] &= kept[0];
      v[2] &= kept[1];
      v[3] &= kept[1];
    }
#pragma unroll
    for (int n = 0; n < S::kSets; ++n) {
      auto& o = r.o[i][n];
      const unsigned b[2] = {weights[2 * n], weights[2 * n + 1]};
      if constexpr (kApart) {
        float sums[4] = {o[0], o[1], o[2], o[3]};
        mma_m16n8k16<T>(sums, v, b);
#pragma unroll
        for (int e = 0; e < 4; ++e)
          if (block.query(p, 8 * n + lane_id() % 4 * 2 + e % 2) == one) o[e] = sums[e];
      } else {
        mma_m16n8k16<T>(o, v, b);
      }
    }
  }
}

// Scores, weights and values of the warp's 16 positions of a stage, from `position` on.
template <class S, class T>
__device__ inline void add_positions(PagesRows<S>& r, const Problem<T>& p, const PagesWork& w, const PagesBlock& block, int stage,
                                     int row_at, int position) {
  const int lane = lane_id(), half = w.box * kBoxRow;
  const auto* const tile = box_memory<unsigned char>(stage * S::kStage + row_at);
  float s[S::kSets][4] = {};
#pragma unroll
  for (int i = 0; i < S::kDim / 16; ++i) {
    unsigned k[4];
    ldmatrix<4>(k, reinterpret_cast<const T*>(tile + lane % 16 * kBoxRow + chunk_byte(half, i, lane / 16)));
#pragma unroll
    for (int n = 0; n < S::kSets; ++n) mma_m16n8k16<T>(s[n], k, r.q[i][n]);
  }
  const int first_query = block.query(p, 0);
  const bool cut = position + kWarpPositions > block.seen(p, first_query);
  unsigned weights[2 * S::kSets];
  float shrink[S::kSets][2];
  bool grown = false;
#pragma unroll
  for (int n = 0; n < S::kSets; ++n) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      float larger = r.max[n][e];
#pragma unroll
      for (int j = 0; j < 2; ++j) s[n][2 * j + e] *= w.scale_log2e;
      if (cut) {
        const int seen = block.seen(p, block.query(p, 8 * n + lane % 4 * 2 + e)) - position - lane / 4;
#pragma unroll
        for (int j = 0; j < 2; ++j)
          if (8 * j >= seen) s[n][2 * j + e] = -INFINITY;
      }
      larger = fmaxf(larger, fmaxf(s[n][e], s[n][2 + e]));
#pragma unroll
      for (int offset = 4; offset < kWarp; offset *= 2) larger = fmaxf(larger, shuffle_xor(larger, offset));
      // Note: fmaxf ignores a NaN, which still reaches the sum through its weight.
      shrink[n][e] = shrunk(r.max[n][e], larger);
      r.max[n][e] = larger;
      grown = grown || shrink[n][e] != 1;
      s[n][e] = shrunk(s[n][e], larger);
      s[n][2 + e] = shrunk(s[n][2 + e], larger);
      r.sum[n][e] = fmaf(r.sum[n][e], shrink[n][e], s[n][e] + s[n][2 + e]);
    }
    weights[2 * n] = pack<T>(s[n][0], s[n][1]);
    weights[2 * n + 1] = pack<T>(s[n][2], s[n][3]);
  }
  if (any(grown)) {
#pragma unroll
    for (auto& o : r.o)
#pragma unroll
      for (int n = 0; n < S::kSets; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) o[n][e] *= shrink[n][e % 2];
  }
  // A lane has the weights of two queries, and multiplies those of one.
  T* const turned = box_memory<T>(S::kWeightsAt + warp_id() * S::kWeights + lane % (16 * S::kSets) * 16);
  stmatrix<2 * S::kSets>(turned, weights);
  sync_warp();
  ldmatrix_trans<2 * S::kSets>(weights, turned);
  const unsigned char* const values = tile + S::kTile + (lane % 8 + lane / 16 * 8) * kBoxRow;
  if (!cut) return add_values<S, false>(r, p, block, weights, values, half, kWarpPositions, 0);
  // Note: a query's weight of a value that it does not see is 0, but the value may be infinite or NaN.
  const int last_query = block.query(p, block.rows - 1);
#pragma unroll 1
  for (int one = first_query; one <= last_query; ++one) {
    const int seen = block.seen(p, one) - position;
    if (seen > 0) add_values<S, true>(r, p, block, weights, values, half, seen, one);
  }
}

template <class T, class Work>
__device__ inline Vec<float, 2>* stats_of(const Problem<T>& p, const Work& w, std::int64_t part) {
  const std::int64_t parts = static_cast<std::int64_t>(p.batches) * p.queries * p.heads * w.count;
  return reinterpret_cast<Vec<float, 2>*>(w.parts + parts * p.dim) + part;
}

// The queries of a key/value head, one row each.
template <class T>
struct PagesPlace {
  int batch, kv;
  __device__ std::int64_t part(const Problem<T>& p, const PagesWork& w, int row, int split) const {
    return ((static_cast<std::int64_t>(batch) * p.kv_heads + kv) * (p.queries * p.group) + row) * w.count + split;
  }
  // Stores four channels of O, and L with the first of them.
  __device__ void store(const Problem<T>& p, int row, int channel, const float (&o)[4], float max, float total) const {
    const int query = row / p.group, head = kv * p.group + row % p.group;
    float out[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) out[e] = total == 0 ? 0.0f : o[e] / total;
    st(reinterpret_cast<Vec<T, 4>*>(p.o.of(batch, query, head) + channel), from_floats<T>(out));
    if (channel == 0) st(p.lse.of(batch, query, head), total == 0 ? -INFINITY : fmaf(max, kLn2, logf(total)));
  }
};

// Joins the warps of a block.
template <class S, class T>
__device__ inline void join_warps(PagesRows<S>& r, const Problem<T>& p, const PagesWork& w, const PagesBlock& block) {
  const int lane = lane_id(), rows = block.rows;
  const PagesPlace<T> place{block.batch, block.kv};
  auto* const stats = box_memory<Vec<float, 2>>(S::kStatsAt);
  float* const outputs = box_memory<float>();
  sync_block();
#pragma unroll
  for (int n = 0; n < S::kSets; ++n)
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      float total = r.sum[n][e];
#pragma unroll
      for (int offset = 4; offset < kWarp; offset *= 2) total += shuffle_xor(total, offset);
      const int row = 8 * n + lane % 4 * 2 + e, at = warp_id() * S::kRows + row;
      if (row >= rows) continue;
      if (lane < 4) st(stats + at, Vec<float, 2>{{r.max[n][e], total}});
#pragma unroll
      for (int i = 0; i < S::kDim / 16; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j) st(outputs + at * S::kPitch + 16 * i + 8 * j + lane / 4, r.o[i][n][2 * j + e]);
    }
  sync_block();
  const int pieces = p.dim / 4;
  for (int i = static_cast<int>(threadIdx.x); i < rows * pieces; i += kPagesThreads) {
    const int row = i / pieces, channel = i % pieces * 4;
    float all = -INFINITY, total = 0, o[4] = {};
#pragma unroll
    for (int k = 0; k < kPagesWarps; ++k) all = fmaxf(all, ld(stats + k * S::kRows + row)[0]);
#pragma unroll
    for (int k = 0; k < kPagesWarps; ++k) {
      const auto of = ld(stats + k * S::kRows + row);
      const auto v = ld(reinterpret_cast<const Vec<float, 4>*>(outputs + (k * S::kRows + row) * S::kPitch + channel));
      const float factor = shrunk(of[0], all);
      total = fmaf(of[1], factor, total);
#pragma unroll
      for (int e = 0; e < 4; ++e) o[e] = fmaf(v[e], factor, o[e]);
    }
    if (block.length <= split_positions(block.length)) {
      place.store(p, block.first + row, channel, o, all, total);
    } else {
      const std::int64_t part = place.part(p, w, block.first + row, block.split);
      st(reinterpret_cast<Vec<float, 4>*>(w.parts + part * p.dim + channel), Vec<float, 4>{{o[0], o[1], o[2], o[3]}});
      if (channel == 0) st(stats_of(p, w, part), Vec<float, 2>{{all, total}});
    }
  }
}

template <class S, class T>
__global__ void __launch_bounds__(kPagesThreads, S::kBlocks)
    paged_attention_pages(const __grid_constant__ TensorMap k, const __grid_constant__ TensorMap v, const Problem<T> p,
                          const PagesWork w) {
  next_grid_may_start();
  if (threadIdx.x == 0) {
    prefetch_map(k);
    prefetch_map(v);
  }
  wait_for_previous_grid();
  const int lane = lane_id(), warp = warp_id(), all_rows = p.queries * p.group;
  // Note: heads are innermost, since neighbours in memory should be read at about the same time.
  int rest = static_cast<int>(blockIdx.x);
  PagesBlock block{};
  block.first = rest % w.chunks * S::kRows;
  rest /= w.chunks;
  block.rows = all_rows - block.first < S::kRows ? all_rows - block.first : S::kRows;
  block.kv = rest % p.kv_heads;
  rest /= p.kv_heads;
  block.split = rest % w.count;
  block.batch = rest / w.count;
  // The warp's first pages, if the sequence is about as long as its table: looked up together with its length.
  const int room = p.max_pages * p.page_size, guess = block.split * split_positions(room);
  block.end = room;
  int page = warp < S::kStages ? page_of(p, w, block, guess + warp * kStagePositions) : 0;
  block.length = ld(p.lengths + block.batch);
  const int each = split_positions(block.length);
  block.begin = block.split * each;
  block.end = block.begin + each < block.length ? block.begin + each : block.length;
  if (block.begin >= block.end && block.split > 0) return;  // the first split handles an empty sequence
  const PagesRing<S> ring;
  if (threadIdx.x == 0) {
    for (int s = 0; s < S::kStages; ++s) {
      barrier_init(ring.full + s, 1);
      barrier_init(ring.empty + s, kPagesWarps);
    }
    barriers_ready();
  }
  sync_block();
  if (const int first = block.begin + warp * kStagePositions; warp < S::kStages && first < block.end) {
    if (block.begin != guess) page = page_of(p, w, block, first);
    copy_stage<S>(k, v, p, w, block, warp, first, page);
  }

  PagesRows<S> r;
#pragma unroll
  for (int n = 0; n < S::kSets; ++n) {
    const int row = 8 * n + lane / 4, head = block.kv * p.group + (block.first + row) % p.group;
    const T* const q = p.q.of(block.batch, block.query(p, row), head) + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < S::kDim / 16; ++i) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int channel = 16 * i + 8 * j;
        r.q[i][n][j] = row < block.rows && channel < p.dim ? ld(reinterpret_cast<const unsigned*>(q + channel)) : 0;
      }
#pragma unroll
      for (int e = 0; e < 4; ++e) r.o[i][n][e] = 0;
    }
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      r.max[n][e] = -INFINITY;
      r.sum[n][e] = 0;
    }
  }
  // Positions of the warp lie in one box, which has a multiple of 16.
  const int of_box = warp * kWarpPositions / w.box * w.box, in_box = warp * kWarpPositions - of_box;
  const int row_at = (of_box * S::kHalves + in_box) * kBoxRow;
  hopper_gemm::Turn<S::kStages> turn;
#pragma unroll 1
  for (int base = block.begin; base < block.end; base += kStagePositions, turn.next()) {
    const int position = base + warp * kWarpPositions, ahead = base + S::kStages * kStagePositions;
    // Note: looked up now, the page is there when the stage is free.
    const bool copies = base / kStagePositions % kPagesWarps == warp && ahead < block.end;
    if (copies) page = page_of(p, w, block, ahead);
    barrier_wait(ring.full + turn.stage, turn.phase);
    if (position < block.end) add_positions<S>(r, p, w, block, turn.stage, row_at, position);
    sync_warp();
    if (lane == 0) barrier_arrive(ring.empty + turn.stage);
    if (copies) {
      barrier_wait(ring.empty + turn.stage, turn.phase);
      copy_stage<S>(k, v, p, w, block, turn.stage, ahead, page);
    }
  }
  join_warps<S>(r, p, w, block);
}

// Joins the splits of a sequence, one block a query and head: a warp adds every fourth split, then the sums of the warps are
// added.
template <class T>
__global__ void __launch_bounds__(kPagesThreads) paged_attention_join_pages(const Problem<T> p, const PagesWork w) {
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

  float all = -INFINITY, total = 0, o[4] = {};
  for (int s = lane; s < used; s += kWarp) all = fmaxf(all, ld(stats + s)[0]);
  all = butterfly(all, [](float a, float b) { return fmaxf(a, b); });
#pragma unroll 4
  for (int s = warp; s < used; s += kPagesWarps) {
    const auto of = ld(stats + s);
    const auto v = ld(outputs + static_cast<std::int64_t>(s) * (p.dim / 4));
    const float factor = shrunk(of[0], all);
    total = fmaf(of[1], factor, total);
#pragma unroll
    for (int e = 0; e < 4; ++e) o[e] = fmaf(v[e], factor, o[e]);
  }
  auto* const sums = shared_memory<Vec<float, 4>>();
  auto* const totals = shared_memory<float>(kPagesThreads * 16);
  st(sums + threadIdx.x, Vec<float, 4>{{o[0], o[1], o[2], o[3]}});
  if (lane == 0) st(totals + warp, total);
  sync_block();
  if (warp > 0 || channel >= p.dim) return;
#pragma unroll
  for (int k = 1; k < kPagesWarps; ++k) {
    const auto v = ld(sums + k * kWarp + lane);
    total += ld(totals + k);
#pragma unroll
    for (int e = 0; e < 4; ++e) o[e] += v[e];
  }
  place.store(p, row, channel, o, all, total);
}

}  // namespace assay::ASSAY_FLAVOUR::paged_attention_room
