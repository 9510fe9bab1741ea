// SPDX-License-Identifier: Apache-2.0
// hopper_product whose last round of tiles, which few blocks have, is cut into pieces of 64 x 64, so that more blocks take part.
// A sum runs over the same channels in the same order, so its bits are the same.  Warpgroups take tiles and pieces in turns.  Only
// device words are used, so that simt can judge it.
#pragma once

#include "cuda/core/hopper_epilogue.cuh"

namespace assay::ASSAY_FLAVOUR::hopper_gemm {

// A piece of a tile of shape S, as store_tile sees it.
template <class S>
struct Piece {
  static constexpr int kM = 64, kN = 64, kWeights = 1, kOut = 64, kBlocks = 1, kBufferAt = S::kBufferAt;
  static constexpr bool kTurns = true;
  static constexpr int kAcross = (S::kN + kN - 1) / kN, kOfTile = S::kM / kM * kAcross;
};

// The first `whole` tiles are not cut; the others make so many pieces.  A turn of a warpgroup is an item: a tile or a piece.
struct RestWork {
  Work tiles;
  int whole, pieces;
};
// Where an item starts; I: S, or Piece<S>, whose items are counted from the first piece.
template <class S, class I>
__device__ inline Place place_of(const RestWork& w, int i) {
  if constexpr (std::is_same_v<I, S>) {
    const Place at = tile_place(w.tiles, i);
    return {at.row * S::kM, at.column * S::kN};
  } else {
    const int part = i % I::kOfTile;
    const Place at = tile_place(w.tiles, w.whole + i / I::kOfTile);
    return {at.row * S::kM + part / I::kAcross * I::kM, at.column * S::kN + part % I::kAcross * I::kN};
  }
}

struct RestMaps {
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
__device__ inline void copy_items(const RestMaps& maps, const RestWork& work) {
  using P = Piece<S>;
  Turn<S::kStages> t;
  for (int i = static_cast<int>(blockIdx.x); i < work.whole; i += static_cast<int>(gridDim.x))
    copy_item<S, S>(maps.a, maps.b, work.tiles, place_of<S, S>(work, i), t);
  for (int i = static_cast<int>(blockIdx.x); i < work.pieces; i += static_cast<int>(gridDim.x))
    copy_item<S, P>(maps.a_piece, maps.b_piece, work.tiles, place_of<S, P>(work, i), t);
}

// I: S or Piece<S>.
template <class S, class I, class T, class Epilogue>
__device__ inline void multiply_and_store(float (&acc)[I::kBlocks][I::kN / 2], const TensorMap& c, const RestWork& work, int item,
                                          Turn<S::kStages>& t, int& chunks, int columns, const Epilogue& epilogue) {
  auto* const full = box_memory<Barrier>(S::kBarrierAt);
  auto* const empty = full + S::kStages;
  const int me = static_cast<int>(threadIdx.x) / kGroup - 1, thread = static_cast<int>(threadIdx.x) % kGroup;
  sync_named(3 + me, 2 * kGroup);  // see hopper_product
  int before = -1;
  for (int k = 0; k < work.tiles.steps; ++k, t.next()) {
    barrier_wait(full + t.stage, t.phase);
    const unsigned char* const stage = box_memory<unsigned char>(t.stage * S::kStage);
    const auto of_a = k_major<T>(stage), of_b = k_major<T>(stage + S::kBytesA);
    wgmma_begin();
#pragma unroll
    for (int j = 0; j < kK / 16; ++j)
#pragma unroll
      for (int i = 0; i < I::kBlocks; ++i) wgmma<T>(acc[i], of_a.plus(i * 64 * kRow + j * 32), of_b.plus(j * 32), (k | j) != 0);
    wgmma_commit();
    if (before >= 0) {
      wgmma_wait<1>(acc);
      if (thread == 0) barrier_arrive(empty + before);
    }
    before = t.stage;
  }
  arrive_named(4 - me, 2 * kGroup);
  wgmma_wait<0>(acc);
  if (thread == 0) barrier_arrive(empty + before);
  const Place at = place_of<S, I>(work, item);
  store_tile<I, T>(acc, c, me, at.row, at.column, columns, chunks, epilogue);
}

template <class S, class T, class Epilogue>
__global__ void __launch_bounds__(kThreads, 1)
    hopper_product_rest(const __grid_constant__ RestMaps maps, const RestWork work, int columns, const Epilogue epilogue) {
  static_assert(S::kTurns && S::kWeights == 1);
  const int group = static_cast<int>(threadIdx.x) / kGroup, thread = static_cast<int>(threadIdx.x) % kGroup;
  if (threadIdx.x == 0) {
    auto* const barriers = box_memory<Barrier>(S::kBarrierAt);
    prefetch_map(maps.a), prefetch_map(maps.b);
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

// Tiles beyond the last full round are cut, unless their pieces would take longer than a round of tiles.
template <class S, class T, class Epilogue>
void launch_rest(const Tensor& x, const Tensor& w, const Tensor& y, const Epilogue& epilogue, const Launch& l) {
  const Work of{static_cast<int>(ceil_div(x.shape[0], S::kM)), static_cast<int>(ceil_div(y.shape[1], S::kN)),
                static_cast<int>(ceil_div(x.shape[1], kK))};
  const int sms = multiprocessors(), tiles = of.tiles_m * of.tiles_n, of_rest = tiles % sms * Piece<S>::kOfTile;
  const bool cuts = ceil_div(of_rest, sms) * step_cycles<Piece<S>>() < step_cycles<S>();
  const int whole = cuts ? tiles - tiles % sms : tiles, pieces = cuts ? of_rest : 0;
  launch(hopper_product_rest<S, T, Epilogue>,
         {.grid = dim3(static_cast<unsigned>(std::min(sms, std::max(whole, pieces)))),
          .block = dim3(kThreads),
          .shared_bytes = S::kShared,
          .dependent = l.after},
         l.stream, RestMaps{map_of<T>(x, S::kM), map_of<T>(w, S::kN), map_of<T>(x, 64), map_of<T>(w, 64), map_of<T>(y, 64)},
         RestWork{of, whole, pieces}, static_cast<int>(y.shape[1]), epilogue);
}

}  // namespace assay::ASSAY_FLAVOUR::hopper_gemm
