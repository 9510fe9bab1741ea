// SPDX-License-Identifier: Apache-2.0
// A product by a ring of boxes and wgmma in steps, core/hopper_gemm.cuh in little: one thread copies 64 channels a stage, two
// warpgroups share tiles of 128 tokens and 64 features, or take tiles of 64 tokens in turns.
#pragma once

#include "cuda/core/hopper_gemm.cuh"
#include "cuda/linear/broken/plain.cuh"

namespace assay::ASSAY_FLAVOUR::linear_room {

inline constexpr int kRingThreads = 384, kRingStages = 3, kRingFeatures = 64, kRingBuffer = 64 * 128;
using RingSums = float[kRingFeatures / 2];

// Every step as it should be; `lead` is one thread of a warpgroup.
struct PlainRing {
  static constexpr bool kTurns = false;
  static constexpr int kTokens = 128;                             // of a tile
  static constexpr int kBytes = (kTokens + kRingFeatures) * 128;  // of a stage
  static constexpr int kApart = kBytes;                           // from a stage to the next
  static constexpr int kCopierRegisters = 40;
  __device__ static void take(int /*tiles*/) { take_registers<232>(); }  // a warpgroup that gets so many tiles
  __device__ static void made(int s) {                                   // a stage's barriers
    if (s == kRingStages - 1) barriers_ready();
  }

  // The copies: how many steps, and what a stage's barrier expects if so many channels are left.
  __device__ static int copied(int steps) { return steps; }
  __device__ static int expected(int bytes, int /*channels*/) { return bytes; }

  __device__ static void turn(int me) { sync_named(3 + me, 256); }
  __device__ static void pass_turn(int me) { arrive_named(4 - me, 256); }

  // A step: its copies have landed; its products begin, and were issued as stage `s`, that before it being `before`, or -1.
  __device__ static void arrived(Barrier* full, int phase, int /*k*/) { barrier_wait(full, phase); }
  __device__ static void begin(bool /*first_of_block*/) { wgmma_begin(); }
  __device__ static void issued(RingSums& sums, Barrier* empty, int /*s*/, int before, bool lead) {
    if (before < 0) return;
    wgmma_wait<1>(sums);
    if (lead) barrier_arrive(empty + before);
  }
  template <class Bias>
  __device__ static void finish(RingSums& sums, Barrier* empty, int last, bool lead, Bias&& add_bias) {
    wgmma_wait<0>(sums);
    if (lead) barrier_arrive(empty + last);
    add_bias(sums);
  }

  __device__ static void free_buffer() { store_wait_read<0>(); }
  __device__ static void fence(int /*me*/) { fence_shared_async(); }
  __device__ static void stored(int /*me*/) { store_wait<0>(); }
};
// The same in turns.
struct PlainTurns : PlainRing {
  static constexpr bool kTurns = true;
  static constexpr int kTokens = 64, kBytes = (kTokens + kRingFeatures) * 128, kApart = kBytes;
};

template <class T, class F>
__global__ void __launch_bounds__(kRingThreads, 1)
    linear_ring(const __grid_constant__ TensorMap x, const __grid_constant__ TensorMap weight,
                const __grid_constant__ TensorMap y, const T* bias, int tokens, int out, int hidden) {
  auto* const memory = box_memory<unsigned char>();
  unsigned char* const buffers = memory + kRingStages * F::kBytes;
  auto* const full = reinterpret_cast<Barrier*>(buffers + 2 * kRingBuffer);
  auto* const empty = full + kRingStages;
  const int group = static_cast<int>(threadIdx.x) / 128, thread = static_cast<int>(threadIdx.x) % 128;
  const int tiles_n = (out + kRingFeatures - 1) / kRingFeatures, tiles = (tokens + F::kTokens - 1) / F::kTokens * tiles_n;
  const int steps = (hidden + 63) / 64, block = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x);
  for (int s = 0; threadIdx.x == 0 && s < kRingStages; ++s) {
    barrier_init(full + s, 1);
    barrier_init(empty + s, F::kTurns ? 1 : 2);
    F::made(s);
  }
  sync_block();
  hopper_gemm::Turn<kRingStages> t;
  if (group == 0) {
    give_registers<F::kCopierRegisters>();
    if (thread != 0) return;
    for (int tile = block; tile < tiles; tile += blocks)
      for (int k = 0; k < F::copied(steps); ++k, t.next()) {
        unsigned char* const stage = memory + t.stage * F::kApart;
        barrier_wait(empty + t.stage, t.phase ^ 1);
        barrier_arrive_expect(full + t.stage, F::expected(F::kBytes, hidden - k * 64));
        copy_box(stage, x, full + t.stage, k * 64, tile / tiles_n * F::kTokens);
        copy_box(stage + F::kTokens * 128, weight, full + t.stage, k * 64, tile % tiles_n * kRingFeatures);
      }
    return;
  }
  const int me = group - 1, of_block = (tiles - block + blocks - 1) / blocks;
  F::take(F::kTurns ? (of_block + 1 - me) / 2 : of_block);
  float sums[kRingFeatures / 2];
  int of_whom = 0;
  if (F::kTurns && me == 0) arrive_named(3, 256);
  for (int tile = block; tile < tiles; tile += blocks, of_whom ^= 1) {
    if (F::kTurns && of_whom != me) {
      t.next(steps);
      continue;
    }
    const int token = tile / tiles_n * F::kTokens + (F::kTurns ? 0 : me * 64), first = tile % tiles_n * kRingFeatures;
    if (F::kTurns) F::turn(me);
    int before = -1;
    for (int k = 0; k < steps; ++k, t.next()) {
      F::arrived(full + t.stage, t.phase, k);
      const unsigned char* const stage = memory + t.stage * F::kApart;
      const auto a = k_major<T>(stage + (F::kTurns ? 0 : me * kRingBuffer)), b = k_major<T>(stage + F::kTokens * 128);
      F::begin(tile == block && k == 0);
#pragma unroll
      for (int j = 0; j < 4; ++j) wgmma<T>(sums, a.plus(32 * j), b.plus(32 * j), (k | j) != 0);
      wgmma_commit();
      F::issued(sums, empty, t.stage, before, thread == 0);
      before = t.stage;
    }
    if (F::kTurns) F::pass_turn(me);
    F::finish(sums, empty, before, thread == 0, [&](RingSums& v) {
#pragma unroll
      for (int i = 0; i < kRingFeatures / 2; ++i) {
        const int o = first + i / 4 * 8 + lane_id() % 4 * 2 + i % 2;
        if (bias != nullptr && o < out) v[i] += to_float(ld(bias + o));
      }
    });
    unsigned char* const buffer = buffers + me * kRingBuffer;
    if (thread == 0) F::free_buffer();
    sync_named(1 + me, 128);
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const float* const v = sums + 8 * q;
      const unsigned words[4] = {pack<T>(v[0], v[1]), pack<T>(v[2], v[3]), pack<T>(v[4], v[5]), pack<T>(v[6], v[7])};
      const int row = thread / kWarp * 16 + lane_id() % 16, piece = 2 * q + lane_id() / 16;
      stmatrix<4>(reinterpret_cast<T*>(buffer + row * 128 + ((piece ^ (row & 7)) << 4)), words);
    }
    F::fence(me);
    sync_named(1 + me, 128);
    if (thread == 0 && token < tokens) {
      store_box(y, buffer, first, token);
      store_commit();
    }
  }
  if (thread == 0) F::stored(me);
}

template <class F>
constexpr KernelTraits<linear> ring_traits() {
  return {.dtypes = {f16, bf16},
          .only_arch = 90,
          .tiles = {tile(Axis::tokens, F::kTokens), tile(Axis::out, kRingFeatures), tile(Axis::hidden, 64)},
          .numerics = {.accumulate = f32, .mma_terms = 16},
          .supports = [](const linear::Args& a) {
            return hopper_gemm::takes({&a.x, &a.weight}, a.y);
          }};
}
template <class F>
void run_ring(const linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) {
    const std::int64_t tiles = ceil_div(a.y.shape[0], F::kTokens) * ceil_div(a.y.shape[1], kRingFeatures);
    launch(linear_ring<T, F>,
           {.grid = dim3(static_cast<unsigned>(std::min<std::int64_t>(tiles, multiprocessors()))),
            .block = dim3(kRingThreads),
            .shared_bytes = kRingStages * F::kBytes + 2 * kRingBuffer + 2 * kRingStages * 8},
           l.stream, hopper_gemm::map_of<T>(a.x, F::kTokens), hopper_gemm::map_of<T>(a.weight, kRingFeatures),
           hopper_gemm::map_of<T>(a.y, 64), a.bias.as<T>(), static_cast<int>(a.y.shape[0]), static_cast<int>(a.y.shape[1]),
           static_cast<int>(a.x.shape[1]));
  });
}

}  // namespace assay::ASSAY_FLAVOUR::linear_room
