// SPDX-License-Identifier: Apache-2.0
// A kernel for C[m, n] = A[m, k] B[n, k]^T with one producer thread, a ring of stages and two consumer warpgroups, as the product
// kernels for Hopper have them.  It has one planted fault or none.
#pragma once

#include <cstdint>

#include "device_hopper.hpp"
#include "simt_testing.hpp"

namespace simt::testing {

enum class RingFault {
  none,
  no_wait,        // the consumers do not wait for the copies
  early_release,  // a stage is released when its wgmma has been issued, not when it is over
  too_few_bytes,  // the barrier expects fewer bytes than are copied
  too_many_bytes,
  no_wgmma_wait,         // the epilogue reads accumulators of running products
  accumulators_written,  // a thread writes one between two steps
  no_begin,              // wgmma_begin is missing
  no_fence,              // fence_shared_async is missing between stmatrix and store_box
  no_ready,              // barriers_ready is missing after barrier_init
  no_store_wait,         // the epilogue's buffer is written again before its store has read it
  ends_in_copy,          // a stage is loaded that no consumer takes
  ends_in_store,         // the last stores are not waited for
  stage_too_far,         // a consumer takes stage s + 1
  no_turn,               // the warpgroups do not wait for their turns
  greedy_registers,      // the warpgroups want 32 + 2 · 240 of 504 registers
  overlapping_stages,    // the ring's stages overlap by 1024 bytes
  unreleased,            // one consumer never releases a stage
};

struct Ring {
  static constexpr int kM = 128, kN = 64, kK = 64, kStages = 3, kThreads = 384;
  static constexpr int kBytesA = kM * 128, kBytesB = kN * 128, kStage = kBytesA + kBytesB, kBuffer = 64 * 128;
  static constexpr int kBuffers = kStages * kStage, kBarriers = kBuffers + 2 * kBuffer, kBytes = kBarriers + 2 * kStages * 8;
};

// kTurns: each warpgroup computes whole tiles of 64 rows, one while the other stores.  Otherwise both share tiles of 128 rows.
template <RingFault kFault, bool kTurns>
void ring(device::TensorMap a, device::TensorMap b, device::TensorMap c, int tiles_m, int tiles_n, int steps) {
  using namespace device;
  using F = RingFault;
  constexpr int kM = kTurns ? 64 : 128, kStage = Ring::kStage - (kFault == F::overlapping_stages ? 1024 : 0);
  constexpr int kBytes = kM * 128 + Ring::kBytesB + (kFault == F::too_few_bytes ? -1024 : kFault == F::too_many_bytes ? 1024 : 0);
  auto* const memory = box_memory<unsigned char>();
  auto* const full = box_memory<Barrier>(Ring::kBarriers);
  auto* const empty = full + Ring::kStages;
  const int group = static_cast<int>(threadIdx.x) / 128, thread = static_cast<int>(threadIdx.x) % 128, tiles = tiles_m * tiles_n;
  if (threadIdx.x == 0) {
    for (int s = 0; s < Ring::kStages; ++s) {
      barrier_init(full + s, 1);
      barrier_init(empty + s, kTurns ? 1 : 2);
    }
    if (kFault != F::no_ready) barriers_ready();
  }
  sync_block();
  if (group == 0) {
    give_registers<kFault == F::greedy_registers ? 32 : 40>();
    if (thread != 0) return;
    int s = 0, phase = 0;
    const int blocks = static_cast<int>(gridDim.x);
    for (int tile = static_cast<int>(blockIdx.x); tile < tiles + (kFault == F::ends_in_copy ? blocks : 0); tile += blocks)
      for (int k = 0; k < steps; ++k) {
        barrier_wait(empty + s, phase ^ 1);
        barrier_arrive_expect(full + s, kBytes);
        copy_box(memory + s * kStage, a, full + s, k * 64, tile / tiles_n * kM);
        copy_box(memory + s * kStage + Ring::kBytesA, b, full + s, k * 64, tile % tiles_n * Ring::kN);
        if (kFault == F::ends_in_copy && tile >= tiles) return;
        if (++s == Ring::kStages) {
          s = 0;
          phase ^= 1;
        }
      }
    return;
  }
  take_registers<kFault == F::greedy_registers ? 240 : 232>();
  const int me = group - 1;
  float acc[Ring::kN / 2];
  int s = 0, phase = 0, turn = 0;
  if (kTurns && me == 0) arrive_named(3, 256);
  for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x), turn ^= 1) {
    if (kTurns && turn != me) {
      s += steps;
      phase ^= s / Ring::kStages & 1;
      s %= Ring::kStages;
      continue;
    }
    if (kTurns && kFault != F::no_turn) sync_named(3 + me, 256);
    const auto release = [&](int stage) {
      if (thread == 0 && !(kFault == F::unreleased && me == 1)) barrier_arrive(empty + stage);
    };
    int before = -1;
    for (int k = 0; k < steps; ++k) {
      if (kFault != F::no_wait) barrier_wait(full + s, phase);
      const unsigned char* const stage = memory + (kFault == F::stage_too_far ? (s + 1) % Ring::kStages : s) * kStage;
      const auto da = k_major<half>(stage + (kTurns ? 0 : me * 8192)), db = k_major<half>(stage + Ring::kBytesA);
      if (kFault == F::accumulators_written && k == 1) acc[3] = 0;
      if (kFault != F::no_begin) wgmma_begin();
      for (int j = 0; j < 4; ++j) wgmma<half>(acc, da.plus(32 * j), db.plus(32 * j), (k | j) != 0);
      wgmma_commit();
      if (kFault == F::early_release) {
        release(s);
      } else if (before >= 0) {
        wgmma_wait<1>(acc);
        release(before);
      }
      before = s;
      if (++s == Ring::kStages) {
        s = 0;
        phase ^= 1;
      }
    }
    if (kTurns && kFault != F::no_turn) arrive_named(4 - me, 256);
    if (kFault != F::no_wgmma_wait) wgmma_wait<0>(acc);
    if (kFault != F::early_release) release(before);
    unsigned char* const buffer = memory + Ring::kBuffers + me * Ring::kBuffer;
    if (thread == 0 && kFault != F::no_store_wait) store_wait_read<0>();
    sync_named(1 + me, 128);
    for (int q = 0; q < 4; ++q) {
      const float* v = acc + 8 * q;
      const unsigned words[4] = {pack<half>(v[0], v[1]), pack<half>(v[2], v[3]), pack<half>(v[4], v[5]), pack<half>(v[6], v[7])};
      const int row = thread / 32 * 16 + lane_id() % 16, chunk = 2 * q + lane_id() / 16;
      stmatrix<4>(reinterpret_cast<half*>(buffer + row * 128 + ((chunk ^ (row & 7)) << 4)), words);
    }
    if (kFault != F::no_fence) fence_shared_async();
    sync_named(1 + me, 128);
    if (thread == 0) {
      store_box(c, buffer, tile % tiles_n * Ring::kN, tile / tiles_n * kM + (kTurns ? 0 : me * 64));
      store_commit();
    }
    if (kFault == F::no_wgmma_wait) wgmma_wait<0>(acc);
  }
  if (thread == 0 && kFault != F::ends_in_store) store_wait<0>();
}

// The finding of a product, and the number of wrong results.
struct RingRun {
  Finding finding;
  unsigned wrong;
};
template <RingFault kFault, bool kTurns>
RingRun run_ring(const Options& options, int m, int n, int k, unsigned blocks) {
  using device::half;
  const Configured configured(options);
  const auto size = [](int rows, int columns) { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns); };
  const Buffer<half> a(size(m, k), "a"), b(size(n, k), "b"), c(size(m, n), "c");
  const auto small = [](std::size_t i) { return static_cast<float>(i * 7 % 11) - 5; };
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = device::to_half(small(i));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = device::to_half(small(i * 3 + i / 64));
  constexpr int kM = kTurns ? 64 : 128;
  const std::int64_t wide[] = {k}, of_c[] = {n};
  const auto map = [](const half* p, int rows, int columns, const std::int64_t* stride, int box) {
    return device::tensor_map<half>(p, {columns, rows}, stride, {64, box}, device::Swizzle::by_128);
  };
  RingRun run{finding_of([&] {
                launch(ring<kFault, kTurns>,
                       {.grid = device::dim3(blocks), .block = device::dim3(Ring::kThreads), .shared_bytes = Ring::kBytes},
                       nullptr, map(a.get(), m, k, wide, kM), map(b.get(), n, k, wide, Ring::kN), map(c.get(), m, n, of_c, 64),
                       (m + kM - 1) / kM, (n + Ring::kN - 1) / Ring::kN, (k + 63) / 64);
              }),
              0};
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int x = 0; x < k; ++x) sum += device::to_float(a[size(i, k) + x]) * device::to_float(b[size(j, k) + x]);
      run.wrong += device::to_half(sum).bits != c[size(i, n) + j].bits;
    }
  return run;
}

}  // namespace simt::testing
