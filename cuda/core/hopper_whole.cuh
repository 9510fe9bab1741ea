// SPDX-License-Identifier: Apache-2.0
// Products of up to 64 tokens for Hopper whose sums are whole: y = epilogue(x w^T).  Reading w takes the time, so a tile has as
// few features as it takes to keep all multiprocessors reading.  Tokens are the 64 rows of wgmma, features the columns.  One warp
// copies boxes into a ring of stages, one warpgroup multiplies.  A sum runs over all channels in their order, whatever the tile's
// width and however many tokens there are, so a token has the same bits whatever others are with it.  The products of
// hopper_few.cuh split the channels and need a second launch.
#pragma once

#include "cuda/core/hopper_gemm.cuh"

namespace assay::ASSAY_FLAVOUR::hopper_whole {

using hopper_gemm::kFewTokens, hopper_gemm::kGroup, hopper_gemm::kK, hopper_gemm::kRow;

inline constexpr int kThreads = 2 * kGroup;
inline constexpr int kRing = hopper_gemm::kMostShared - 1024, kMostStages = 32;  // bytes; the barriers lie behind the ring

// A block's tile: N features.  A stage has kBoxes boxes of 64 channels of x, then as many of the weights, at least 8 KiB.
template <int N>
struct Shape {
  static constexpr int kN = N;
  static constexpr int kBox = N * kRow, kBoxes = (64 + N - 1) / N, kDeep = kBoxes * kK;  // bytes; boxes; channels of a stage
  static_assert(N % 8 == 0 && kBoxes * kBox >= kFewTokens * kRow);
};

// `rows`: of a box of x, the tokens rounded up to 8.  Bytes: `x_at` and `w_at` in a stage, which has `bytes`.
// Note: wgmma reads 64 rows of x at x_at, of which those behind the box are weights.  It adds nothing to the rows before them,
// and nobody stores them.
struct Work {
  int tiles, steps, stages, rows, x_at, w_at, bytes, tokens, features;
};

// A stage of the ring and the parity of its phase.
struct Turn {
  int stage = 0, phase = 0;
  __device__ void next(const Work& work) {
    if (++stage == work.stages) {
      stage = 0;
      phase ^= 1;
    }
  }
};

template <class S>
__device__ inline void copy_tiles(const TensorMap& x, const TensorMap& w, const Work& work) {
  auto* const full = box_memory<Barrier>(kRing);
  auto* const empty = full + kMostStages;
  const auto copy_weights = [&](int stage, int tile, int k) {
    barrier_arrive_expect(full + stage, work.bytes);
#pragma unroll
    for (int b = 0; b < S::kBoxes; ++b)
      copy_box(box_memory<unsigned char>(stage * work.bytes + work.w_at + b * S::kBox), w, full + stage, k * S::kDeep + b * kK,
               tile * S::kN);
  };
  // No launch writes weights, so the ring is filled with them before the launch that makes x has ended.
  int ahead = 0;
  for (; ahead < work.stages && ahead < work.steps; ++ahead) copy_weights(ahead, static_cast<int>(blockIdx.x), ahead);
  wait_for_previous_grid();
  Turn t;
  for (int tile = static_cast<int>(blockIdx.x); tile < work.tiles; tile += static_cast<int>(gridDim.x))
    for (int k = 0; k < work.steps; ++k, t.next(work)) {
      if (ahead > 0) {
        --ahead;
      } else {
        barrier_wait(empty + t.stage, t.phase ^ 1);
        copy_weights(t.stage, tile, k);
      }
#pragma unroll
      for (int b = 0; b < S::kBoxes; ++b)
        copy_box(box_memory<unsigned char>(t.stage * work.bytes + work.x_at + b * work.rows * kRow), x, full + t.stage,
                 k * S::kDeep + b * kK, 0);
    }
}

// Epilogue: one of hopper_epilogue.cuh.
template <class S, class T, class Epilogue>
__device__ inline void store_tile(float (&sums)[S::kN / 2], T* y, std::int64_t stride, const Work& work, int tile,
                                  const Epilogue& epilogue) {
  const int lane = lane_id(), first = static_cast<int>(threadIdx.x) / kWarp * 16, row = first + lane / 4;
  if (first >= work.tokens) return;
#pragma unroll
  for (int j = 0; j < S::kN; j += 8) {
    const int column = tile * S::kN + j + lane % 4 * 2;
    float v[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) v[e] = sums[j / 2 + e];
    epilogue.template apply<T>(v, nullptr, {row, column});
#pragma unroll
    for (int h = 0; h < 2; ++h)
      if (row + 8 * h < work.tokens && column < work.features)
        st(reinterpret_cast<unsigned*>(y + (row + 8 * h) * stride + column), pack<T>(v[2 * h], v[2 * h + 1]));
  }
}

template <class S, class T, class Epilogue>
__global__ void __launch_bounds__(kThreads, 1)
    hopper_whole_sums(const __grid_constant__ TensorMap x, const __grid_constant__ TensorMap w, T* y, std::int64_t stride,
                      const Work work, const Epilogue epilogue) {
  auto* const full = box_memory<Barrier>(kRing);
  auto* const empty = full + kMostStages;
  if (threadIdx.x == 0) {
    prefetch_map(x);
    prefetch_map(w);
    for (int s = 0; s < work.stages; ++s) {
      barrier_init(full + s, 1);
      barrier_init(empty + s, 1);
    }
    barriers_ready();
  }
  sync_block();
  next_grid_may_start();
  if (threadIdx.x >= kGroup) {
    if (threadIdx.x == kGroup) copy_tiles<S>(x, w, work);
    return;
  }
  wait_for_previous_grid();
  Turn t;
  float sums[S::kN / 2];
  for (int tile = static_cast<int>(blockIdx.x); tile < work.tiles; tile += static_cast<int>(gridDim.x)) {
    int before = -1;
    for (int k = 0; k < work.steps; ++k, t.next(work)) {
      barrier_wait(full + t.stage, t.phase);
      const auto* const stage = box_memory<unsigned char>(t.stage * work.bytes);
      wgmma_begin();
#pragma unroll
      for (int b = 0; b < S::kBoxes; ++b) {
        const auto of_x = k_major<T>(stage + work.x_at + b * work.rows * kRow),
                   of_w = k_major<T>(stage + work.w_at + b * S::kBox);
#pragma unroll
        for (int j = 0; j < kK / 16; ++j) wgmma<T>(sums, of_x.plus(32 * j), of_w.plus(32 * j), (k | b | j) != 0);
      }
      wgmma_commit();
      if (before >= 0) {
        wgmma_wait<1>(sums);
        if (threadIdx.x == 0) barrier_arrive(empty + before);
      }
      before = t.stage;
    }
    wgmma_wait<0>(sums);
    if (threadIdx.x == 0) barrier_arrive(empty + before);
    store_tile<S>(sums, y, stride, work, tile, epilogue);
  }
}

}  // namespace assay::ASSAY_FLAVOUR::hopper_whole
