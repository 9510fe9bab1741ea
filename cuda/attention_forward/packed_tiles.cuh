// SPDX-License-Identifier: Apache-2.0
// The order in which blocks of threads take the tiles of packed sequences, whose lengths they do not know before.  A kernel sorts
// the sequences, those with the longest tiles first.  A block of threads then takes a tile whenever it is about to have done one.
// So the last tiles are short, and all end at about the same time.  The tiles of a sequence follow each other, and its keys and
// values stay in the L2 cache.
#pragma once

#include "cuda/attention_forward/problem.cuh"
#include "cuda/core/head_tile.cuh"

namespace assay::ASSAY_FLAVOUR::attention_forward_room {

// A tile of queries of a head; sequence -1: none.
struct alignas(16) PackedTile {
  int sequence, head, tile;
};

// In workspace: how many tiles are taken, and the order of sequences.
struct PackedOrder {
  struct Entry {
    int sequence, before;  // tiles of all heads in the sequences before it
  };
  struct Load {
    int longest, tiles;  // work of the longest tile; tiles of all heads
  };
  int* taken = nullptr;
  Entry* entries = nullptr;  // [batches + 1]; the last one has but the number of all tiles
  Load* loads = nullptr;     // [batches]
  static std::size_t bytes(std::int64_t batches) {
    return sizeof(Entry) * static_cast<std::size_t>(batches + 2) + sizeof(Load) * static_cast<std::size_t>(batches);
  }
  // `room`: as many bytes, at a multiple of 8.
  static PackedOrder at(void* room, std::int64_t batches) {
    Entry* const entries = static_cast<Entry*>(room) + 1;
    return {static_cast<int*>(room), entries, reinterpret_cast<Load*>(entries + batches + 1)};
  }
};

// One block of threads.  `blocks`: those that take tiles, each of which has taken one.  The work of a sequence's last tile counts
// as that of its longest.
inline constexpr int kOrderThreads = 512;
template <class T, int kQueries>
__global__ void __launch_bounds__(kOrderThreads)
    attention_forward_order_sequences(const Problem<T> all, int blocks, const PackedOrder order) {
  next_grid_may_start();
  wait_for_previous_grid();
  const int thread = static_cast<int>(threadIdx.x);
  for (int s = thread; s < all.batches; s += kOrderThreads) {
    Problem<T> p = all;
    p.select(s);
    const int last = p.queries - 1, tiles = (p.queries + kQueries - 1) / kQueries;
    st(order.loads + s, PackedOrder::Load{tiles > 0 ? p.visible(last) - p.first_visible(last) : 0, tiles * p.heads});
  }
  sync_block();
  for (int s = thread; s < all.batches; s += kOrderThreads) {
    const PackedOrder::Load mine = ld(order.loads + s);
    int rank = 0, before = 0;
    for (int i = 0; i < all.batches; ++i) {
      const PackedOrder::Load other = ld(order.loads + i);
      const bool first = other.longest > mine.longest || (other.longest == mine.longest && i < s);
      rank += first ? 1 : 0;
      before += first ? other.tiles : 0;
    }
    st(order.entries + rank, PackedOrder::Entry{s, before});
    if (rank == all.batches - 1) st(order.entries + all.batches, PackedOrder::Entry{-1, before + mine.tiles});
  }
  if (thread == 0) st(order.taken, blocks);
}

// Takes tiles for a block of threads; used by one thread.  Note: it keeps little, since registers of a copying warp are few.
class PackedTaker {
 public:
  __device__ void take(const PackedOrder& order) {
    if (order.taken != nullptr) item_ = atomic_add(order.taken, 1);
  }
  // The tile that was taken last, the first one at the beginning.  With a mask heads whose keys and values fit the L2 cache are
  // together: of each tile first all heads, the last tile first.  Without one, one head comes after the other.
  template <class T>
  __device__ PackedTile tile(const Problem<T>& all, const PackedOrder& order, int size) {
    while (rank_ < all.batches && item_ >= ld(order.entries + rank_ + 1).before) ++rank_;
    if (rank_ == all.batches) return {-1, 0, 0};
    const PackedOrder::Entry entry = ld(order.entries + rank_);
    const int queries = ld(all.q_starts + entry.sequence + 1) - ld(all.q_starts + entry.sequence);
    const int keys = ld(all.k_starts + entry.sequence + 1) - ld(all.k_starts + entry.sequence),
              tiles = (queries + size - 1) / size;
    const int fit = static_cast<int>(head_tile::kTogetherBytes / (2 * sizeof(T))) / all.dim / (keys + 1) * all.group;
    const int most = fit < 1 || !all.masked() ? 1 : fit < all.heads ? fit : all.heads;
    const int groups = (all.heads + most - 1) / most, together = (all.heads + groups - 1) / groups;
    const int item = item_ - entry.before, group = item / (tiles * together), first = group * together;
    const int here = all.heads - first < together ? all.heads - first : together, rest = item - group * tiles * together;
    return {entry.sequence, first + rest % here, tiles - 1 - rest / here};
  }

 private:
  int item_ = static_cast<int>(blockIdx.x), rank_ = 0;
};

}  // namespace assay::ASSAY_FLAVOUR::attention_forward_room
