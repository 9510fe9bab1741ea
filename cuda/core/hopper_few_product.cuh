// SPDX-License-Identifier: Apache-2.0
// Products of few tokens (hopper_few.cuh) on the host.
#pragma once

#include "cuda/core/hopper_few_epilogue.cuh"

namespace assay::ASSAY_FLAVOUR::hopper_few {

// The cheapest number of parts, in times of a stage.  Note: it counts on 132 multiprocessors and 64 tokens, whatever there are,
// so that neither a device nor a token changes the bits.  A join costs about as much as 5 stages, and the traffic of its parts.
inline int parts_of(std::int64_t features, std::int64_t channels) {
  constexpr std::int64_t kMultiprocessors = 132, kMostParts = 16, kJoin = 5, kFeaturesAStage = 8448;
  const std::int64_t tiles = ceil_div(features, kFeatures), stages = ceil_div(channels, kDeep);
  std::int64_t best = 1, least = INT64_MAX;
  for (std::int64_t parts = 1; parts <= std::min(kMostParts, stages); ++parts) {
    const std::int64_t deep = ceil_div(stages, parts), waves = ceil_div(tiles * parts, kMultiprocessors);
    if (deep * (parts - 1) >= stages) continue;  // the last one would be empty
    const std::int64_t cost = (waves * deep + (parts > 1 ? kJoin : 0)) * kFeaturesAStage + (parts > 1 ? parts * features : 0);
    if (cost < least) {
      best = parts;
      least = cost;
    }
  }
  return static_cast<int>(best);
}

// Calls f(std::integral_constant<int, N>{}) with the least compiled number of columns N >= tokens.
template <class F>
void with_tokens(std::int64_t tokens, F&& f) {
  if (tokens <= 8) return f(std::integral_constant<int, 8>{});
  if (tokens <= 16) return f(std::integral_constant<int, 16>{});
  if (tokens <= 32) return f(std::integral_constant<int, 32>{});
  f(std::integral_constant<int, 64>{});
}

inline std::size_t workspace_bytes(std::int64_t tokens, std::int64_t features, std::int64_t channels, int weights) {
  const std::int64_t parts = parts_of(features, channels), columns = tokens <= 8 ? 8 : tokens <= 16 ? 16 : tokens <= 32 ? 32 : 64;
  return parts == 1 ? 0 : static_cast<std::size_t>(parts * ceil_div(features, kFeatures) * kFeatures * weights * columns) * 4;
}

inline Work work_of(const Tensor& x, const Tensor& y, int parts) {
  const std::int64_t stages = ceil_div(x.shape[1], kDeep);
  return {.tiles = static_cast<int>(ceil_div(y.shape[1], kFeatures)),
          .parts = parts,
          .stages = static_cast<int>(stages),
          .deep = static_cast<int>(ceil_div(stages, parts)),
          .tokens = static_cast<int>(y.shape[0]),
          .features = static_cast<int>(y.shape[1])};
}

// The product, or its parts; and the sum of the parts.  `workspace`: workspace_bytes of it.
template <class S, class T, class Epilogue>
void multiply(const Work& work, const Tensor& x, const Tensor& w, const Tensor* second, const Tensor& y, const Epilogue& epilogue,
              void* workspace, void* stream, bool after) {
  const TensorMap of_w = hopper_gemm::map_of<T>(w, kFeatures);
  launch(hopper_few_tokens<S, T, Epilogue>,
         {.grid = dim3(static_cast<unsigned>(std::min(multiprocessors(), work.tiles * work.parts))),
          .block = dim3(kThreads),
          .shared_bytes = S::kShared,
          .dependent = after},
         stream, hopper_gemm::map_of<T>(x, S::kTokens), of_w, second ? hopper_gemm::map_of<T>(*second, kFeatures) : of_w,
         y.as<T>(), y.stride[0], static_cast<float*>(workspace), work, epilogue);
}
template <class S, class T, class Epilogue>
void join(const Work& work, const Tensor& y, const Epilogue& epilogue, void* workspace, void* stream) {
  launch(hopper_few_join<S, T, Epilogue>,
         {.grid = dim3(static_cast<unsigned>(work.tiles)), .block = dim3(kGroup), .shared_bytes = kStaging, .dependent = true},
         stream, static_cast<float*>(workspace), y.as<T>(), y.stride[0], work, epilogue);
}

// `after`: a launch of the same kernel makes x; this one may begin before that one has ended.
template <class T, int kWeights, class Epilogue>
void product(const Tensor& x, const Tensor& w, const Tensor* second, const Tensor& y, const Epilogue& epilogue, void* workspace,
             void* stream, bool after = false) {
  if (y.shape[0] == 0 || y.shape[1] == 0) return;
  with_tokens(y.shape[0], [&]<int kTokens>(std::integral_constant<int, kTokens>) {
    using S = Shape<kTokens, kWeights>;
    const Work work = work_of(x, y, parts_of(y.shape[1], x.shape[1]));
    multiply<S, T>(work, x, w, second, y, epilogue, workspace, stream, after);
    if (work.parts > 1) join<S, T>(work, y, epilogue, workspace, stream);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::hopper_few
