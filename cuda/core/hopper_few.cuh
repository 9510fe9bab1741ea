// SPDX-License-Identifier: Apache-2.0
// Products of up to 64 tokens for Hopper: y = epilogue(x w^T).  Reading w takes the time, so w is on the side of wgmma that has
// 64 rows, and tokens are the columns, 8 to 64 of them.  One warp copies boxes into a ring of stages, one warpgroup multiplies.
// If the tiles of 64 features do not fill the device, every tile's channels are split into parts.  A second kernel adds the parts
// in their order.  Neither parts nor order depend on the tokens, so a token has the same bits whatever others are with it.
#pragma once

#include "cuda/core/hopper_gemm.cuh"

namespace assay::ASSAY_FLAVOUR::hopper_few {

using hopper_gemm::kFewTokens, hopper_gemm::kRow, hopper_gemm::Turn;

inline constexpr int kFeatures = 64, kGroup = 128, kThreads = 2 * kGroup;
inline constexpr int kBoxes = 2, kDeep = kBoxes * 64;  // boxes of 64 channels a stage; channels of a stage
inline constexpr int kStaging = kFewTokens * kRow;     // bytes: a tile of y

// Tokens: columns of a product, a multiple of 8.  With two Weights a thread holds the same elements of both products.
template <int Tokens, int Weights>
struct Shape {
  static constexpr int kTokens = Tokens, kWeights = Weights;
  static constexpr int kBoxW = kFeatures * kRow, kBoxX = Tokens * kRow, kBox = Weights * kBoxW + kBoxX, kStage = kBoxes * kBox;
  static constexpr int kFit = (hopper_gemm::kMostShared - kStaging - 256) / kStage, kStages = kFit < 12 ? kFit : 12;
  static constexpr int kStagingAt = kStages * kStage, kBarriersAt = kStagingAt + kStaging,
                       kShared = kBarriersAt + 2 * kStages * 8;
  using Sums = float[Weights][Tokens / 2];
};

// How the work is cut: item number part * tiles + tile is `deep` stages of one tile's channels, or what is left of them.
struct Work {
  int tiles, parts, stages, deep, tokens, features;
};

template <class S>
__device__ inline void copy_items(const TensorMap& x, const TensorMap& w, const TensorMap& second, const Work& work) {
  auto* const full = box_memory<Barrier>(S::kBarriersAt);
  auto* const empty = full + S::kStages;
  const int items = work.tiles * work.parts;
  const auto copy_weights = [&](int stage, int item, int k) {
    const int feature = item % work.tiles * kFeatures;
    barrier_arrive_expect(full + stage, S::kStage);
#pragma unroll
    for (int b = 0; b < kBoxes; ++b) {
      auto* const box = box_memory<unsigned char>(stage * S::kStage + b * S::kBox);
      copy_box(box, w, full + stage, k * kDeep + b * 64, feature);
      if constexpr (S::kWeights == 2) copy_box(box + S::kBoxW, second, full + stage, k * kDeep + b * 64, feature);
    }
  };
  // No launch writes weights, so the ring is filled with them before the launch that makes x has ended.
  int item = static_cast<int>(blockIdx.x), ahead = 0;
  for (int k = item / work.tiles * work.deep; item < items && ahead < S::kStages && ahead < work.deep && k < work.stages; ++k)
    copy_weights(ahead++, item, k);
  wait_for_previous_grid();
  Turn<S::kStages> t;
  for (; item < items; item += static_cast<int>(gridDim.x)) {
    const int first = item / work.tiles * work.deep;
    for (int k = first; k < first + work.deep && k < work.stages; ++k, t.next()) {
      if (ahead > 0) {
        --ahead;
      } else {
        barrier_wait(empty + t.stage, t.phase ^ 1);
        copy_weights(t.stage, item, k);
      }
#pragma unroll
      for (int b = 0; b < kBoxes; ++b)
        copy_box(box_memory<unsigned char>(t.stage * S::kStage + b * S::kBox + S::kWeights * S::kBoxW), x, full + t.stage,
                 k * kDeep + b * 64, 0);
    }
  }
}

// Stores a tile of y: sums[..][i] of a thread is of feature 8 (i / 2 % 2) + its row of wgmma, token 8 (i / 4) + 2 (lane % 4) + i
// % 2.
template <class S, class T, class Epilogue>
__device__ inline void store_tile(const typename S::Sums& sums, T* y, std::int64_t stride, const Work& work, int tile,
                                  const Epilogue& epilogue, unsigned char* staging) {
  const int thread = static_cast<int>(threadIdx.x) % kGroup, lane = lane_id(), mine = thread / kWarp * 16 + lane / 4;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int feature = mine + 8 * h;
    const float bias = epilogue.template bias_of<T>(tile * kFeatures + feature);
#pragma unroll
    for (int j = 0; j < S::kTokens / 8; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int i = 4 * j + 2 * h + e, token = 8 * j + lane % 4 * 2 + e;
        const float v = epilogue.of(sums[0][i] + bias, sums[S::kWeights - 1][i]);
        st(reinterpret_cast<T*>(staging + token * kRow + ((feature / 8 ^ token) & 7) * 16) + feature % 8, from_float<T>(v));
      }
  }
  sync_named(1, kGroup);
  for (int i = thread; i < work.tokens * 8; i += kGroup) {
    const int token = i / 8, piece = i % 8, feature = tile * kFeatures + piece * 8;
    if (feature < work.features)
      st(reinterpret_cast<Vec<T, 8>*>(y + token * stride + feature),
         ld(reinterpret_cast<const Vec<T, 8>*>(staging + token * kRow + ((piece ^ token) & 7) * 16)));
  }
  sync_named(1, kGroup);
}

// The workspace holds parts of sums, f32, [part][tile][weight][4 columns][thread] x 4.
template <class S>
__device__ inline Vec<float, 4>* place_of(float* parts, const Work& work, int part, int tile, int weight, int j) {
  const std::int64_t at = ((static_cast<std::int64_t>(part) * work.tiles + tile) * S::kWeights + weight) * (S::kTokens / 8) + j;
  return reinterpret_cast<Vec<float, 4>*>(parts) + at * kGroup + static_cast<int>(threadIdx.x) % kGroup;
}

template <class S, class T, class Epilogue>
__global__ void __launch_bounds__(kThreads, 1)
    hopper_few_tokens(const __grid_constant__ TensorMap x, const __grid_constant__ TensorMap w,
                      const __grid_constant__ TensorMap second, T* y, std::int64_t stride, float* parts, const Work work,
                      const Epilogue epilogue) {
  auto* const full = box_memory<Barrier>(S::kBarriersAt);
  auto* const empty = full + S::kStages;
  if (threadIdx.x == 0) {
    prefetch_map(x);
    prefetch_map(w);
    for (int s = 0; s < S::kStages; ++s) {
      barrier_init(full + s, 1);
      barrier_init(empty + s, 1);
    }
    barriers_ready();
  }
  sync_block();
  next_grid_may_start();
  if (threadIdx.x >= kGroup) {
    if (threadIdx.x == kGroup) copy_items<S>(x, w, second, work);
    return;
  }
  wait_for_previous_grid();
  Turn<S::kStages> t;
  typename S::Sums sums;
  for (int item = static_cast<int>(blockIdx.x); item < work.tiles * work.parts; item += static_cast<int>(gridDim.x)) {
    const int tile = item % work.tiles, part = item / work.tiles, first = part * work.deep;
    const int end = first + work.deep < work.stages ? first + work.deep : work.stages;
    const auto issue = [&](bool keep) {
      barrier_wait(full + t.stage, t.phase);
      wgmma_begin();
#pragma unroll
      for (int b = 0; b < kBoxes; ++b) {
        auto* const box = box_memory<unsigned char>(t.stage * S::kStage + b * S::kBox);
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
          for (int i = 0; i < S::kWeights; ++i)
            wgmma<T>(sums[i], k_major<T>(box + i * S::kBoxW).plus(32 * j), k_major<T>(box + S::kWeights * S::kBoxW).plus(32 * j),
                     keep || (b | j) != 0);
      }
      wgmma_commit();
    };
    issue(false);
    for (int k = first + 1; k < end; ++k) {
      const int before = t.stage;
      t.next();
      issue(true);
      wgmma_wait<1>(sums);
      if (threadIdx.x == 0) barrier_arrive(empty + before);
    }
    wgmma_wait<0>(sums);
    if (threadIdx.x == 0) barrier_arrive(empty + t.stage);
    t.next();
    if (work.parts == 1) {
      store_tile<S>(sums, y, stride, work, tile, epilogue, box_memory<unsigned char>(S::kStagingAt));
      continue;
    }
#pragma unroll
    for (int i = 0; i < S::kWeights; ++i)
#pragma unroll
      for (int j = 0; j < S::kTokens / 8; ++j)
        st(place_of<S>(parts, work, part, tile, i, j),
           Vec<float, 4>{{sums[i][4 * j], sums[i][4 * j + 1], sums[i][4 * j + 2], sums[i][4 * j + 3]}});
  }
}

// Adds the parts of a tile in their order, and stores it.
template <class S, class T, class Epilogue>
__global__ void __launch_bounds__(kGroup)
    hopper_few_join(float* parts, T* y, std::int64_t stride, const Work work, const Epilogue epilogue) {
  typename S::Sums sums = {};
  const int tile = static_cast<int>(blockIdx.x);
  next_grid_may_start();
  wait_for_previous_grid();
#pragma unroll 2
  for (int part = 0; part < work.parts; ++part)
#pragma unroll
    for (int i = 0; i < S::kWeights; ++i)
#pragma unroll
      for (int j = 0; j < S::kTokens / 8; ++j) {
        const auto v = ld(place_of<S>(parts, work, part, tile, i, j));
#pragma unroll
        for (int e = 0; e < 4; ++e) sums[i][4 * j + e] += v[e];
      }
  store_tile<S>(sums, y, stride, work, tile, epilogue, shared_memory<unsigned char>());
}

}  // namespace assay::ASSAY_FLAVOUR::hopper_few
