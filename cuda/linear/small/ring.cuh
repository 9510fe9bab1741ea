// SPDX-License-Identifier: Apache-2.0
// A product by a ring of boxes and wgmma, core/hopper_gemm.cuh in little: one thread copies 64 channels a stage, two warpgroups
// share tiles of 128 tokens and 64 features, or take tiles of 64 tokens in turns.
#pragma once

#include "cuda/core/hopper_gemm.cuh"
#include "ops/linear.hpp"

namespace assay::ASSAY_FLAVOUR::linear_room {

inline constexpr int kRingThreads = 384, kRingStages = 3, kRingFeatures = 64, kRingBuffer = 64 * 128;
template <bool kTurns>
inline constexpr int kRingTokens = kTurns ? 64 : 128;  // of a tile
template <bool kTurns>
inline constexpr int kRingBytes = (kRingTokens<kTurns> + kRingFeatures) * 128;  // of a stage

template <class T, bool kTurns>
__global__ void __launch_bounds__(kRingThreads, 1)
    linear_ring(const __grid_constant__ TensorMap x, const __grid_constant__ TensorMap weight,
                const __grid_constant__ TensorMap y, const T* bias, int tokens, int out, int hidden) {
  constexpr int kTokens = kRingTokens<kTurns>, kBytes = kRingBytes<kTurns>;
  auto* const memory = box_memory<unsigned char>();
  unsigned char* const buffers = memory + kRingStages * kBytes;
  auto* const full = reinterpret_cast<Barrier*>(buffers + 2 * kRingBuffer);
  auto* const empty = full + kRingStages;
  const int group = static_cast<int>(threadIdx.x) / 128, thread = static_cast<int>(threadIdx.x) % 128;
  const int tiles_n = (out + kRingFeatures - 1) / kRingFeatures, tiles = (tokens + kTokens - 1) / kTokens * tiles_n;
  const int steps = (hidden + 63) / 64, block = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x);
  for (int s = 0; threadIdx.x == 0 && s < kRingStages; ++s) {
    barrier_init(full + s, 1);
    barrier_init(empty + s, kTurns ? 1 : 2);
  }
  if (threadIdx.x == 0) barriers_ready();
  sync_block();
  hopper_gemm::Turn<kRingStages> t;
  if (group == 0) {
    give_registers<40>();
    if (thread != 0) return;
    for (int tile = block; tile < tiles; tile += blocks)
      for (int k = 0; k < steps; ++k, t.next()) {
        unsigned char* const stage = memory + t.stage * kBytes;
        barrier_wait(empty + t.stage, t.phase ^ 1);
        barrier_arrive_expect(full + t.stage, kBytes);
        copy_box(stage, x, full + t.stage, k * 64, tile / tiles_n * kTokens);
        copy_box(stage + kTokens * 128, weight, full + t.stage, k * 64, tile % tiles_n * kRingFeatures);
      }
    return;
  }
  take_registers<232>();
  const int me = group - 1;
  float sums[kRingFeatures / 2];
  int of_whom = 0;
  if (kTurns && me == 0) arrive_named(3, 256);
  for (int tile = block; tile < tiles; tile += blocks, of_whom ^= 1) {
    if (kTurns && of_whom != me) {
      t.next(steps);
      continue;
    }
    const int token = tile / tiles_n * kTokens + (kTurns ? 0 : me * 64), first = tile % tiles_n * kRingFeatures;
    if (kTurns) sync_named(3 + me, 256);
    int before = -1;
    for (int k = 0; k < steps; ++k, t.next()) {
      barrier_wait(full + t.stage, t.phase);
      const unsigned char* const stage = memory + t.stage * kBytes;
      const auto a = k_major<T>(stage + (kTurns ? 0 : me * kRingBuffer)), b = k_major<T>(stage + kTokens * 128);
      wgmma_begin();
#pragma unroll
      for (int j = 0; j < 4; ++j) wgmma<T>(sums, a.plus(32 * j), b.plus(32 * j), (k | j) != 0);
      wgmma_commit();
      if (before >= 0) {
        wgmma_wait<1>(sums);
        if (thread == 0) barrier_arrive(empty + before);
      }
      before = t.stage;
    }
    if (kTurns) arrive_named(4 - me, 256);
    wgmma_wait<0>(sums);
    if (thread == 0) barrier_arrive(empty + before);
#pragma unroll
    for (int i = 0; i < kRingFeatures / 2; ++i) {
      const int o = first + i / 4 * 8 + lane_id() % 4 * 2 + i % 2;
      if (bias != nullptr && o < out) sums[i] += to_float(ld(bias + o));
    }
    unsigned char* const buffer = buffers + me * kRingBuffer;
    if (thread == 0) store_wait_read<0>();
    sync_named(1 + me, 128);
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const float* const v = sums + 8 * q;
      const unsigned words[4] = {pack<T>(v[0], v[1]), pack<T>(v[2], v[3]), pack<T>(v[4], v[5]), pack<T>(v[6], v[7])};
      const int row = thread / kWarp * 16 + lane_id() % 16, piece = 2 * q + lane_id() / 16;
      stmatrix<4>(reinterpret_cast<T*>(buffer + row * 128 + ((piece ^ (row & 7)) << 4)), words);
    }
    fence_shared_async();
    sync_named(1 + me, 128);
    if (thread == 0 && token < tokens) {
      store_box(y, buffer, first, token);
      store_commit();
    }
  }
  if (thread == 0) store_wait<0>();
}

template <class T, bool kTurns>
void run_ring(const linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  constexpr int kTokens = kRingTokens<kTurns>;
  const std::int64_t tiles = ceil_div(a.y.shape[0], kTokens) * ceil_div(a.y.shape[1], kRingFeatures);
  launch(linear_ring<T, kTurns>,
         {.grid = dim3(static_cast<unsigned>(std::min<std::int64_t>(tiles, multiprocessors()))),
          .block = dim3(kRingThreads),
          .shared_bytes = kRingStages * kRingBytes<kTurns> + 2 * kRingBuffer + 2 * kRingStages * 8},
         l.stream, hopper_gemm::map_of<T>(a.x, kTokens), hopper_gemm::map_of<T>(a.weight, kRingFeatures),
         hopper_gemm::map_of<T>(a.y, 64), a.bias.as<T>(), static_cast<int>(a.y.shape[0]), static_cast<int>(a.y.shape[1]),
         static_cast<int>(a.x.shape[1]));
}

template <bool kTurns>
constexpr KernelTraits<linear> ring_traits(DTypes dtypes) {
  return {.dtypes = dtypes,
          .only_arch = 90,
          .tiles = {tile(Axis::tokens, kRingTokens<kTurns>), tile(Axis::out, kRingFeatures), tile(Axis::hidden, 64)},
          .numerics = {.accumulate = f32, .mma_terms = 16},
          .supports = [](const linear::Args& a) {
            return hopper_gemm::takes({&a.x, &a.weight}, a.y);
          }};
}

}  // namespace assay::ASSAY_FLAVOUR::linear_room
