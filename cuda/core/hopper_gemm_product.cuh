// SPDX-License-Identifier: Apache-2.0
// Products of hopper_gemm.cuh on the host: which shape of tile takes the least estimated time, and the launch.
#pragma once

#include "cuda/core/hopper_pieces.cuh"

namespace assay::ASSAY_FLAVOUR::hopper_gemm {

// About how many cycles a step of 64 k takes.  2,048 multiplications a cycle, corrected by what reports/tiles measured on H200s:
// tiles of 192 columns taken in turns are the fastest for their size, and small ones wait for copies.
template <class S>
constexpr int step_cycles() {
  constexpr int kFull = S::kM * S::kN / 32;
  constexpr int kLeast = S::kM == 64 ? 150 + 14 * S::kN / 10 : 200 + 26 * S::kN / 10;
  constexpr int kPerMille = S::kM == 64 ? 1020 : !S::kTurns ? 1005 : S::kN == 192 ? 975 : S::kN > 128 ? 1020 : 1035;
  return std::max(kFull * kPerMille / 1000, kLeast);
}
// How many tiles are not cut, and how many pieces the others make.  A last round is cut if its pieces take less time.
struct Cut {
  std::int64_t whole, pieces;
};
template <class S>
Cut cut_of(std::int64_t tiles, int sms) {
  if constexpr (kInPieces<S>) {
    const std::int64_t rest = tiles % sms, pieces = rest * Piece<S>::kOfTile;
    if (tiles > sms && ceil_div(pieces, sms) * step_cycles<Piece<S>>() < step_cycles<S>()) return {tiles - rest, pieces};
  }
  return {tiles, 0};
}
// About how many cycles the product takes.  Where warpgroups share a tile, nothing hides its epilogue; where they take turns,
// only the last one shows, which is twice as long, since one warpgroup has the whole tile.
template <class S, class Epilogue>
std::int64_t cost(std::int64_t m, std::int64_t n, std::int64_t k, int sms) {
  constexpr int kTurn = 300, kEpilogue = Epilogue::kCycles * S::kN / 256 * (S::kM > 128 ? 2 : 1);
  const Cut cut = cut_of<S>(ceil_div(m, S::kM) * ceil_div(n, S::kOut), sms);
  const std::int64_t waves = ceil_div(cut.whole, sms), steps = ceil_div(k, kK), multiply = steps * step_cycles<S>();
  if (!S::kTurns) return waves * (multiply + kEpilogue);
  if constexpr (kInPieces<S>)
    if (cut.pieces != 0)
      return waves * (multiply + kTurn) + ceil_div(cut.pieces, sms) * (steps * step_cycles<Piece<S>>() + kTurn) +
             2 * (Epilogue::kCycles * Piece<S>::kN / 256);
  return waves * (multiply + kTurn) + 2 * kEpilogue;
}

template <class S, class T, class Epilogue>
void launch_product(const Tensor& x, const Tensor& w, const Tensor* second, const Tensor& y, const Epilogue& epilogue,
                    const Launch& l, bool after) {
  const Work work{static_cast<int>(ceil_div(x.shape[0], S::kM)), static_cast<int>(ceil_div(y.shape[1], S::kOut)),
                  static_cast<int>(ceil_div(x.shape[1], kK))};
  const int tiles = work.tiles_m * work.tiles_n, sms = multiprocessors(), columns = static_cast<int>(y.shape[1]);
  const LaunchConfig config{.grid = dim3(static_cast<unsigned>(std::min(sms, tiles))),
                            .block = dim3(kThreads),
                            .shared_bytes = S::kShared,
                            .dependent = after || l.after};
  const TensorMap a = map_of<T>(x, S::kM), b = map_of<T>(w, S::kOut), c = map_of<T>(y, 64);
  if constexpr (kInPieces<S>) {
    const Cut cut = cut_of<S>(tiles, sms);
    launch(hopper_product_in_pieces<S, T, Epilogue>, config, l.stream,
           PiecesMaps{a, b, map_of<T>(x, Piece<S>::kM), map_of<T>(w, Piece<S>::kN), c},
           PiecesWork{work, static_cast<int>(cut.whole), static_cast<int>(cut.pieces)}, columns, epilogue);
  } else {
    launch(hopper_product<S, T, Epilogue>, config, l.stream, a, b, second ? map_of<T>(*second, S::kOut) : b, c, work, columns,
           epilogue);
  }
}

// Computes the product with the cheapest of the shapes S.  `after`: a launch of this kernel comes before it, and it may begin
// before that one has ended.
template <class T, class... S, class Epilogue>
void product_by(const Tensor& x, const Tensor& w, const Tensor* second, const Tensor& y, const Epilogue& epilogue,
                const Launch& l, bool after = false) {
  if (y.shape[0] == 0 || y.shape[1] == 0) return;
  const int sms = multiprocessors();
  const std::int64_t costs[] = {cost<S, Epilogue>(x.shape[0], y.shape[1], x.shape[1], sms)...};
  const auto cheapest = std::min_element(std::begin(costs), std::end(costs)) - std::begin(costs);
  std::ptrdiff_t i = 0;
  ((i++ == cheapest ? launch_product<S, T>(x, w, second, y, epilogue, l, after) : void()), ...);
}

}  // namespace assay::ASSAY_FLAVOUR::hopper_gemm
