// SPDX-License-Identifier: Apache-2.0
// Tiles of attention by wgmma (hopper_flash.cuh): their sizes, the order in which blocks take them, the copies of Q, K and V, and
// on the host the maps of these and what is declared.
#pragma once

#include "cuda/attention_forward/hopper_mend.cuh"
#include "cuda/attention_forward/packed_tiles.cuh"
#include "cuda/core/hopper_gemm.cuh"

namespace assay::ASSAY_FLAVOUR::attention_forward_room {

// What an instance of the kernel does.  Each does what the ones before it do, and what its name says, but takes longer for the
// former; so `softcaps` does all.
enum class Does { masks, no_mask, packed, windows, softcaps };

// Dim: channels a row has room for, boxes being 64 wide.  Groups: warpgroups that multiply.  Spread: a warpgroup without queries
// multiplies nothing, and without a mask blocks take tiles of every length in turns.
template <int Dim, int Groups, Does does>
struct HopperShape {
  static constexpr bool kSpread = does >= Does::no_mask, kPacked = does >= Does::packed, kWindow = does >= Does::windows;
  static constexpr bool kCapped = does == Does::softcaps;
  static constexpr int kDim = Dim, kGroups = Groups, kThreads = 128 * (Groups + 1), kQueries = 64 * Groups, kKeys = 128;
  static constexpr int kRow = kBoxRow, kHalves = Dim / 64;             // bytes of a row of a box; boxes that make a row
  static constexpr int kBoxQ = kQueries * kRow, kQ = kBoxQ * kHalves;  // bytes of a box, of a tile
  static constexpr int kBoxK = kKeys * kRow, kK = kBoxK * kHalves, kStages = 2;
  static constexpr int kOutAt = 2 * kQ, kKAt = kOutAt + kQ, kVAt = kKAt + kStages * kK, kBarriersAt = kVAt + kStages * kK;
  static constexpr int kTakenAt = kBarriersAt + 8 * (4 + 4 * kStages), kShared = kTakenAt + 2 * sizeof(PackedTile);
  // Registers of a thread.  The launch gives 168 with two groups, 128 with three.  To take packed tiles needs more than 24.
  static constexpr int kCopierRegisters = Groups == 3 ? 32 : kPacked ? 40 : 24;
  static constexpr int kOtherRegisters = Groups == 3 ? 160 : kPacked ? 232 : 240;
  using Scores = float[kKeys / 2];
  using Output = float[kDim / 2];
};

template <class S>
struct HopperBarriers {
  Barrier *q_full, *q_empty, *k_full, *k_empty, *v_full, *v_empty;
  __device__ HopperBarriers() {
    q_full = box_memory<Barrier>(S::kBarriersAt);
    q_empty = q_full + 2;
    k_full = q_empty + 2;
    k_empty = k_full + S::kStages;
    v_full = k_empty + S::kStages;
    v_empty = v_full + S::kStages;
  }
  __device__ void init() const {
    for (int i = 0; i < 2; ++i) {
      barrier_init(q_full + i, 1);
      barrier_init(q_empty + i, S::kGroups);
    }
    for (int i = 0; i < S::kStages; ++i) {
      barrier_init(k_full + i, 1);
      barrier_init(k_empty + i, S::kGroups);
      barrier_init(v_full + i, 1);
      barrier_init(v_empty + i, S::kGroups);
    }
    barriers_ready();
  }
};

// A tile: queries from first_query on against blocks of keys [begin, end).  The sequence begins at these rows of the maps.
struct HopperTile {
  int batch, head, first_query, begin, end, q_row, k_row;
  int values;  // rows of V from the sequence's first one on, those of other sequences included
};

// Sets a tile's queries and blocks of keys; p: the problem of its sequence.
template <class S, class T>
__device__ inline void set_tile(HopperTile& t, const Problem<T>& p, int tile) {
  t.first_query = tile * S::kQueries;
  const int last = (t.first_query + S::kQueries < p.queries ? t.first_query + S::kQueries : p.queries) - 1;
  t.begin = S::kWindow ? p.first_visible(t.first_query) / S::kKeys : 0;
  t.end = (p.visible(last) + S::kKeys - 1) / S::kKeys;
}

// Calls f(p, tile) for each tile of this block; p: the problem, of the tile's sequence if packed.  In each round every block
// takes one tile.  With a mask every second round goes through the blocks in reverse, and every second group of heads through its
// tiles, so that the last group ends with its shortest.  Lengths then change little from tile to tile, and add up to nearly the
// same in each block.  Packed: next(taken) sets the tile, or returns false after the last one (packed_tiles.cuh).
template <class S, class T, class Next, class F>
__device__ inline void for_tiles(const Problem<T>& all, const Schedule& schedule, Next&& next, F&& f) {
  const bool packed = S::kPacked && all.q_starts != nullptr, differ = all.masked();
  // Note: with packed sequences first < tiles always.  With `packed ||` in its place nvcc 13 no longer knows that the stages of
  // rings are the same in a whole warp, and moves each descriptor of a product to a uniform register.
  const int tiles = packed ? 1 : schedule.tiles * schedule.heads, blocks = static_cast<int>(gridDim.x),
            step = packed ? 0 : blocks;
  const int last_group = schedule.last_group();
  for (int first = 0, place = static_cast<int>(blockIdx.x); first < tiles; first += step) {
    const int i = first + place;
    if (differ) place = blocks - 1 - place;
    else if (S::kSpread && ++place == blocks) place = 0;
    if (!packed && i >= tiles) continue;
    Problem<T> p = all;
    HopperTile t{};
    t.values = p.keys;
    int tile = 0;
    if (packed) {
      PackedTile taken;
      if (!next(taken)) return;
      p.select(taken.sequence);
      t.head = taken.head;
      tile = taken.tile;
      t.q_row = ld(p.q_starts + p.sequence);
      t.k_row = ld(p.k_starts + p.sequence);
      t.values = all.batches * all.keys - t.k_row;
    } else {
      const QueryTile work = query_tile(schedule, i);
      tile = differ && (last_group - work.group) % 2 != 0 ? schedule.tiles - 1 - work.tile : work.tile;
      t.batch = work.batch;
      t.head = work.head;
    }
    set_tile<S>(t, p, tile);
    f(p, t);
  }
}

// The part of a warpgroup without queries in a tile: it lets go of each block and of its turns.
template <class S>
__device__ inline void pass_tile(const HopperTile& t, hopper_gemm::Turn<2>& of_q, hopper_gemm::Turn<S::kStages>& of_k,
                                 hopper_gemm::Turn<S::kStages>& of_v, int me) {
  const HopperBarriers<S> barriers;
  const bool lead = threadIdx.x % 128 == 0;
  for (int block = t.end - 1; block >= t.begin; --block) {
    barrier_wait(barriers.k_full + of_k.stage, of_k.phase);
    if (lead) barrier_arrive(barriers.k_empty + of_k.stage);
    of_k.next();
    if (block < t.end - 1) {
      sync_named(1 + me, 256);
      arrive_named(1 + (me + 1) % S::kGroups, 256);
    }
    barrier_wait(barriers.v_full + of_v.stage, of_v.phase);
    if (lead) barrier_arrive(barriers.v_empty + of_v.stage);
    of_v.next();
  }
  sync_named(1 + S::kGroups + me, 128);
  if (lead) barrier_arrive(barriers.q_empty + of_q.stage);
  of_q.next();
}

template <class S, class T>
__device__ inline void copy_tiles(const TensorMap& q, const TensorMap& k, const TensorMap& v, const Problem<T>& all,
                                  const Schedule& schedule, const PackedOrder& order) {
  const HopperBarriers<S> barriers;
  hopper_gemm::Turn<2> of_q;
  hopper_gemm::Turn<S::kStages> of_k, of_v;
  PackedTaker taker;
  const auto await_place = [&] { barrier_wait(barriers.q_empty + of_q.stage, of_q.phase ^ 1); };
  const auto next = [&](PackedTile& taken) {
    taken = taker.tile(all, order, S::kQueries);
    await_place();
    st(box_memory<PackedTile>(S::kTakenAt) + of_q.stage, taken);
    if (taken.sequence < 0) barrier_arrive(barriers.q_full + of_q.stage);
    return taken.sequence >= 0;
  };
  for_tiles<S>(all, schedule, next, [&](const Problem<T>& p, const HopperTile& t) {
    const auto copy = [&](int at, int box, const TensorMap& map, Barrier* full, int row, int head) {
      barrier_arrive_expect(full, box * S::kHalves);
      for (int h = 0; h < S::kHalves; ++h)
        copy_box(box_memory<unsigned char>(at + h * box), map, full, h * 64, row, head, t.batch);
    };
    const auto copy_block = [&](int at, const TensorMap& map, Barrier* full, Barrier* empty, auto& turn, int block) {
      barrier_wait(empty + turn.stage, turn.phase ^ 1);
      copy(at + turn.stage * S::kK, S::kBoxK, map, full + turn.stage, t.k_row + block * S::kKeys, t.head / p.group);
      turn.next();
    };
    const auto copy_k = [&](int block) { copy_block(S::kKAt, k, barriers.k_full, barriers.k_empty, of_k, block); };
    const auto copy_v = [&](int block) { copy_block(S::kVAt, v, barriers.v_full, barriers.v_empty, of_v, block); };
    await_place();
    if (t.end > t.begin) copy(of_q.stage * S::kQ, S::kBoxQ, q, barriers.q_full + of_q.stage, t.q_row + t.first_query, t.head);
    else barrier_arrive(barriers.q_full + of_q.stage);
    of_q.next();
    if (t.end > t.begin) copy_k(t.end - 1);
    // Note: the next tile is taken late, since other blocks of threads may be done sooner, but not at the end, since that takes
    // as long as a block of keys.
    const int late = t.begin + 2 < t.end ? t.begin + 2 : t.end - 1;
    if (S::kPacked && t.end <= t.begin) taker.take(order);
    for (int block = t.end - 1; block >= t.begin; --block) {
      if (block > t.begin) copy_k(block - 1);
      if (S::kPacked && block == late) taker.take(order);
      copy_v(block);
    }
  });
}

// --- On the host ------------------------------------------------------------------------------------------------------

// A lane sums 32 of a block's weights as 16 pairs; the four lanes of a row are added at the end.
inline constexpr Numerics kHopperNumerics = {.accumulate = DType::f32,
                                             .chain = {.lanes = 128, .extra = 16 + 1 + 2},
                                             .mma_terms = 16,
                                             .stores = "rotated,exps",
                                             .flushes_subnormals = true,
                                             .angle_error = kAngleError,
                                             .reduced_angle_error = kReducedAngleError,
                                             .rescales = {.lanes = 128}};

inline Legality fits_boxes(const attention_forward::Args& a) {
  const std::int64_t dim = a.q.shape[3];
  if (dim > 128 || dim % 8 != 0) return Legality::no("needs a head_dim that is a multiple of 8, up to 128");
  for (const Tensor* t : {&a.q, &a.k, &a.v, &a.o})
    if (!t->rows_contiguous() || !t->rows_aligned(16)) return Legality::no("needs rows that start at multiples of 16 bytes");
  return extents_fit(a);
}

// A map of 64 channels x `rows` rows of one head.  Packed: all sequences are one.
template <class T>
TensorMap head_map(const Tensor& t, int rows, bool packed) {
  const std::int64_t batch = packed ? 1 : t.shape[0], seq = packed ? t.shape[0] * t.shape[1] : t.shape[1];
  // Note: the stride of an axis of extent 1 is not used, and may be one that tensor_map refuses.
  const auto stride = [&](int axis, std::int64_t extent) { return extent > 1 ? t.stride[axis] : 8; };
  const std::int64_t strides[] = {stride(1, seq), stride(2, t.shape[2]), stride(0, batch)};
  return tensor_map<T>(t.as<T>(), {t.shape[3], seq, t.shape[2], batch}, strides, {64, rows, 1, 1}, Swizzle::by_128);
}

// Workspace of the order of packed sequences.
inline std::size_t order_bytes(const attention_forward::Args& a) { return a.packed ? PackedOrder::bytes(a.q.shape[0]) : 0; }

}  // namespace assay::ASSAY_FLAVOUR::attention_forward_room
