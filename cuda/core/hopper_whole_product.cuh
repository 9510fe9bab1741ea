// SPDX-License-Identifier: Apache-2.0
// Products of few tokens (hopper_whole.cuh) on the host: how wide the tiles are, and the launch.
#pragma once

#include "cuda/core/hopper_epilogue.cuh"
#include "cuda/core/hopper_whole.cuh"

namespace assay::ASSAY_FLAVOUR::hopper_whole {

// What a kernel declares as its tile: the features of a usual one, and a multiple of every stage's channels.
inline constexpr int kFeatures = 64, kChannels = 256;

inline std::int64_t box_rows(const Tensor& x) { return ceil_div(x.shape[0], 8) * 8; }

// How the work is cut into tiles and stages.
template <class S>
Work work_of(const Tensor& x, const Tensor& y) {
  const std::int64_t rows = box_rows(x), w_at = S::kBoxes * rows * kRow, bytes = w_at + S::kBoxes * S::kBox;
  return {.tiles = static_cast<int>(ceil_div(y.shape[1], S::kN)),
          .steps = static_cast<int>(ceil_div(x.shape[1], S::kDeep)),
          .stages = static_cast<int>(std::min<std::int64_t>(kRing / bytes, kMostStages)),
          .rows = static_cast<int>(rows),
          .x_at = 0,
          .w_at = static_cast<int>(w_at),
          .bytes = static_cast<int>(bytes),
          .tokens = static_cast<int>(y.shape[0]),
          .features = static_cast<int>(y.shape[1])};
}
// About how long the busiest multiprocessor takes, in the time of a feature; a tile costs that of 8 more.  Measured on an H200
// with 1, 16 and 64 tokens over 18 shapes, each width up to 64 by itself, and all widths over 7 of 1 and 64: what it chooses
// takes at most 2 % longer than the best one.
template <class S>
std::int64_t cost(std::int64_t features) {
  return ceil_div(ceil_div(features, S::kN), multiprocessors()) * (S::kN + 8);
}

template <class S, class T, class Epilogue>
void launch_product(const Tensor& x, const Tensor& w, const Tensor& y, const Epilogue& epilogue, void* stream, bool after) {
  const Work work = work_of<S>(x, y);
  launch(hopper_whole_sums<S, T, Epilogue>,
         {.grid = dim3(static_cast<unsigned>(std::min(multiprocessors(), work.tiles))),
          .block = dim3(kThreads),
          .shared_bytes = kRing + 2 * kMostStages * 8,
          .dependent = after},
         stream, hopper_gemm::map_of<T>(x, work.rows), hopper_gemm::map_of<T>(w, S::kN), y.as<T>(), y.stride[0], work, epilogue);
}

template <class T, class... S, class Epilogue>
void product_by(const Tensor& x, const Tensor& w, const Tensor& y, const Epilogue& epilogue, void* stream, bool after) {
  const std::int64_t costs[] = {cost<S>(y.shape[1])...};
  const auto least = std::min_element(std::begin(costs), std::end(costs)) - std::begin(costs);
  std::ptrdiff_t i = 0;
  ((i++ == least ? launch_product<S, T>(x, w, y, epilogue, stream, after) : void()), ...);
}

// `after`: a launch of the same kernel makes x; this one may begin before that one has ended.
template <class T, class Epilogue>
void product(const Tensor& x, const Tensor& w, const Tensor& y, const Epilogue& epilogue, void* stream, bool after = false) {
  if (y.shape[0] == 0 || y.shape[1] == 0) return;
  product_by<T, Shape<64>, Shape<32>, Shape<16>, Shape<88>, Shape<96>>(x, w, y, epilogue, stream, after);
}

}  // namespace assay::ASSAY_FLAVOUR::hopper_whole
