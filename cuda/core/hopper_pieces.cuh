// SPDX-License-Identifier: Apache-2.0
// hopper_product (hopper_gemm.cuh) whose last round of tiles, if few blocks have one, is cut into pieces of 64 x 64, so that more
// blocks take part.  A sum runs over the same channels in the same order, so its bits are the same.  Warpgroups take tiles and
// pieces in turns.
#pragma once

#include "cuda/core/hopper_gemm.cuh"

namespace assay::ASSAY_FLAVOUR::hopper_gemm {

// A shape of tiles of which the last round may be cut.
template <class S>
struct LastInPieces : S {
  static_assert(S::kTurns && S::kWeights == 1);
};
template <class S>
inline constexpr bool kInPieces = false;
template <class S>
inline constexpr bool kInPieces<LastInPieces<S>> = true;

// A piece of a tile of shape S, as store_tile sees it.
template <class S>
struct Piece {
  static constexpr int kM = 64, kN = 64, kWeights = 1, kOut = kN, kBlocks = 1, kApart = 0;
  static constexpr int kBufferAt = S::kBufferAt;
  static constexpr bool kTurns = true;
  static constexpr int kAcross = (S::kN + kN - 1) / kN, kOfTile = S::kM / kM * kAcross;
};

// The first `whole` tiles are not cut; the others make so many pieces.  A turn of a warpgroup is an item: a tile or a piece.
struct PiecesWork {
  Work tiles;
  int whole, pieces;
};
// Where an item starts; I: S, or Piece<S>, whose items are counted from the first piece.
template <class S, class I>
__device__ inline Place item_place(const PiecesWork& w, int i) {
  if constexpr (std::is_same_v<I, S>) {
    const Place at = tile_place(w.tiles, i);
    return {at.row * S::kM, at.column * S::kN};
  } else {
    const int part = i % I::kOfTile;
    const Place at = tile_place(w.tiles, w.whole + i / I::kOfTile);
    return {at.row * S::kM + part / I::kAcross * I::kM, at.column * S::kN + part % I::kAcross * I::kN};
  }
}

struct PiecesMaps {
  TensorMap a, b, a_piece, b_piece, c;
};

template <class S, class I>
__device__ inline void copy_item(const TensorMap& a, const TensorMap& b, const Work& tiles, Place at, Turn<S::kStages>& t) {
  auto* const full = box_memory<Barrier>(S::kBarrierAt);
  auto* const empty = full + S::kStages;
  for (int k = 0; k < tiles.steps; ++k, t.next()) {
    unsigned char* const stage = box_memory<unsigned char>(t.stage * S::kStage);
    barrier_wait(empty + t.stage, t.phase ^ 1);
    barrier_arrive_expect(full + t.stage, (I::kM + I::kN) * kRow);
    copy_box(stage, a, full + t.stage, k * kK, at.row);
    copy_box(stage + S::kBytesA, b, full + t.stage, k * kK, at.column);
  }
}
template <class S>
__device__ inline void copy_items(const PiecesMaps& maps, const PiecesWork& work) {
  using P = Piece<S>;
  Turn<S::kStages> t;
  for (int i = static_cast<int>(blockIdx.x); i < work.whole; i += static_cast<int>(gridDim.x))
    copy_item<S, S>(maps.a, maps.b, work.tiles, item_place<S, S>(work, i), t);
  for (int i = static_cast<int>(blockIdx.x); i < work.pieces; i += static_cast<int>(gridDim.x))
    copy_item<S, P>(maps.a_piece, maps.b_piece, work.tiles, item_place<S, P>(work, i), t);
}

// I: S or Piece<S>.
template <class S, class I, class T, class Epilogue>
__device__ inline void multiply_and_store(float (&acc)[I::kBlocks][I::kN / 2], const TensorMap& c, const PiecesWork& work,
                                          int item, Turn<S::kStages>& t, int& chunks, int columns, const Epilogue& epilogue) {
  const int me = static_cast<int>(threadIdx.x) / kGroup - 1;
  multiply<S, I, T>(acc, work.tiles.steps, me, t);
  const Place at = item_place<S, I>(work, item);
  store_tile<I, T>(acc, c, me, at.row, at.column, columns, chunks, epilogue);
}

template <class S, class T, class Epilogue>
__global__ void __launch_bounds__(kThreads, 1)
    hopper_product_in_pieces(const __grid_constant__ PiecesMaps maps, const PiecesWork work, int columns,
                             const Epilogue epilogue) {
  const int group = static_cast<int>(threadIdx.x) / kGroup, thread = static_cast<int>(threadIdx.x) % kGroup;
  if (threadIdx.x == 0) {
    auto* const barriers = box_memory<Barrier>(S::kBarrierAt);
    prefetch_map(maps.a);
    prefetch_map(maps.b);
    for (int s = 0; s < 2 * S::kStages; ++s) barrier_init(barriers + s, 1);
    barriers_ready();
  }
  sync_block();
  next_grid_may_start();
  wait_for_previous_grid();

  if (group == 0) {
    give_registers<kCopierRegisters>();
    if (thread == 0) copy_items<S>(maps, work);
  } else {
    take_registers<kOtherRegisters>();
    const int me = group - 1;
    Turn<S::kStages> t;
    int turn = 0, chunks = 0;
    if (me == 0) arrive_named(3, 2 * kGroup);
    const auto take_turns = [&]<class I>(std::type_identity<I>, int items) {
      float acc[I::kBlocks][I::kN / 2];  // Note: inside the loop ptxas spills.
      for (int i = static_cast<int>(blockIdx.x); i < items; i += static_cast<int>(gridDim.x), turn ^= 1) {
        if (turn != me) {
          t.next(work.tiles.steps);
          continue;
        }
        multiply_and_store<S, I, T>(acc, maps.c, work, i, t, chunks, columns, epilogue);
      }
    };
    take_turns(std::type_identity<S>{}, work.whole);
    take_turns(std::type_identity<Piece<S>>{}, work.pieces);
    if (thread == 0) store_wait<0>();
  }
}

}  // namespace assay::ASSAY_FLAVOUR::hopper_gemm
