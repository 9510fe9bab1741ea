// SPDX-License-Identifier: Apache-2.0
// The probes of wgmma, which four warps execute together, and of copy_box, which takes a tensor map.
#pragma once

#include <type_traits>

#include "cuda/core/hopper.cuh"
#include "cuda/core/probe/probe.hpp"

namespace assay::ASSAY_FLAVOUR::hopper_probe {

inline constexpr int kThreads = 128, kBytesA = 64 * 128, kBytesB = 256 * 128, kBoxBytes = 2048;

// Offset of byte `byte` of row `row` of a tile whose rows of 128 bytes are swizzled.
__device__ inline int swizzled(int row, int byte) { return row * 128 + (byte ^ (row & 7) << 4); }

// Stores word `w` (0 to 7) of row `row` of an operand into a tile, as its step `step` (0 to 3).
__device__ inline void put(unsigned char* tile, bool mn_major, int row, int w, int step, unsigned word) {
  if (!mn_major) {
    st(reinterpret_cast<unsigned*>(tile + swizzled(row, 32 * step + 4 * w)), word);
    return;
  }
  for (int i = 0; i < 2; ++i)
    st(reinterpret_cast<std::uint16_t*>(tile + row / 64 * 8192 + swizzled(16 * step + 2 * w + i, row % 64 * 2)),
       static_cast<std::uint16_t>(word >> 16 * i));
}

template <Instruction I>
inline constexpr WgmmaForm kForm = wgmma_form(I);

template <Instruction I>
__global__ void __launch_bounds__(kThreads) probe_wgmma(const unsigned* in, unsigned* out) {
  using enum Instruction;
  using T = std::conditional_t<(I <= wgmma_half_b_mn), half, std::conditional_t<(I <= wgmma_bfloat16_mn), bfloat16, tf32>>;
  constexpr int kN = kForm<I>.n, kWordsB = kN < 16 ? 1 : kN / 16;
  auto* const a = box_memory<unsigned char>();
  auto* const b = a + kBytesA;
  const int thread = linear_thread(), g = lane_id() / 4, t = lane_id() % 4, step = static_cast<int>(blockIdx.x % 4);
  const std::int64_t lane = std::int64_t{blockIdx.x} * kThreads + thread;
  in += lane * info(I).words_in;
  out += lane * info(I).words_out;

  unsigned words[4];
  for (int i = 0; i < 4; ++i) words[i] = ld(in + i);
  for (int i = 0; i < 4; ++i) put(a, kForm<I>.a_mn, warp_id() * 16 + g + 8 * (i % 2), t + 4 * (i / 2), step, words[i]);
  for (int i = 0; i < kWordsB; ++i)
    if (const int at = thread * kWordsB + i; at < kN * 8) put(b, kForm<I>.b_mn, at / 8, at % 8, step, ld(in + 4 + i));
  float c[kN / 2];
#pragma unroll
  for (int i = 0; i < kN / 2; ++i) c[i] = ld(reinterpret_cast<const float*>(in) + 4 + kWordsB + i);
  fence_shared_async();
  sync_block();

  const auto of_b = [&] {
    if constexpr (kForm<I>.b_mn) return mn_major<T>(b, 8192).plus(2048 * step);
    else return k_major<T>(b).plus(32 * step);
  }();
  wgmma_begin();
  if constexpr (kForm<I>.registers) wgmma<T>(c, words, of_b, true);
  else if constexpr (kForm<I>.a_mn) wgmma<T>(c, mn_major<T>(a, 8192).plus(2048 * step), of_b, true);
  else wgmma<T>(c, k_major<T>(a).plus(32 * step), of_b, true);
  wgmma_commit();
  wgmma_wait<0>(c);
#pragma unroll
  for (int i = 0; i < kN / 2; ++i) st(reinterpret_cast<float*>(out) + i, c[i]);
}

// Copies a box for each warp, at coordinates from one box before the tensor to one after it.
template <Instruction I>
__global__ void __launch_bounds__(kWarp) probe_box(const __grid_constant__ TensorMap map, const unsigned* in, unsigned* out) {
  constexpr BoxForm kBox = box_form(I);
  auto* const words = box_memory<unsigned>();
  auto* const barrier = box_memory<Barrier>(kBoxBytes);
  const std::int64_t first = std::int64_t{blockIdx.x} * kWarp;
  int at[5] = {};
  for (int d = 0; d < kBox.rank; ++d) {
    const auto range = static_cast<unsigned>(kBox.extent[d] + 2 * kBox.box[d]);
    at[d] = static_cast<int>(ld(in + (first + d) * info(I).words_in) % range) - kBox.box[d];
  }
  at[0] &= ~7;  // 16 bytes
  if (lane_id() == 0) {
    barrier_init(barrier, 1);
    barriers_ready();
    barrier_arrive_expect(barrier, info(I).words_out * kWarp * 4);
    if constexpr (kBox.rank == 1) copy_box(words, map, barrier, at[0]);
    else if constexpr (kBox.rank == 2) copy_box(words, map, barrier, at[0], at[1]);
    else if constexpr (kBox.rank == 3) copy_box(words, map, barrier, at[0], at[1], at[2]);
    else if constexpr (kBox.rank == 4) copy_box(words, map, barrier, at[0], at[1], at[2], at[3]);
    else copy_box(words, map, barrier, at[0], at[1], at[2], at[3], at[4]);
  }
  sync_block();
  barrier_wait(barrier, 0);
  out += (first + lane_id()) * info(I).words_out;
  for (int i = 0; i < info(I).words_out; ++i) st(out + i, ld(words + lane_id() * info(I).words_out + i));
}

template <Instruction I>
void launch_probe(const ProbeArgs& a, const Launch& l, unsigned warpgroups) {
  if constexpr (is_wgmma(I)) {
    launch(probe_wgmma<I>, {.grid = dim3(warpgroups), .block = dim3(kThreads), .shared_bytes = kBytesA + kBytesB}, l.stream, a.in,
           a.out);
  } else {
    constexpr BoxForm kBox = box_form(I);
    std::int64_t extents[kBox.rank], strides[5] = {80};
    int box[kBox.rank];
    for (int d = 0; d < kBox.rank; ++d) {
      extents[d] = kBox.extent[d];
      box[d] = kBox.box[d];
      if (d > 0 && d < 4) strides[d] = strides[d - 1] * extents[d];
    }
    const TensorMap map =
        tensor_map<half>(reinterpret_cast<const half*>(a.in), extents, strides, box, static_cast<Swizzle>(kBox.swizzle));
    launch(probe_box<I>, {.grid = dim3(static_cast<unsigned>(a.count)), .block = dim3(kWarp), .shared_bytes = kBoxBytes + 64},
           l.stream, map, a.in, a.out);
  }
}

}  // namespace assay::ASSAY_FLAVOUR::hopper_probe
