// SPDX-License-Identifier: Apache-2.0
// Matrix products for Hopper: C = epilogue(A B^T), A [m, k] and B [n, k] with k innermost, 16-bit elements, f32 accumulators.
// One warp copies boxes of 64 k into a ring of stages; two warpgroups multiply them with wgmma, either sharing a tile or taking
// tiles in turns, so that one stores while the other multiplies.  C is stored 64 columns at a time, by stmatrix and store_box.
// Extents need not be whole tiles; rows have to start at multiples of 16 bytes.
#pragma once

#include "cuda/core/hopper.cuh"
#include "cuda/core/kernel.cuh"

namespace assay::ASSAY_FLAVOUR::hopper_gemm {

inline constexpr int kGroup = 128, kThreads = 3 * kGroup;  // threads of a warpgroup; of a block: the copying one and two others
inline constexpr int kK = 64, kRow = 128;                  // elements, bytes of a row of a stage
inline constexpr int kBuffer = 64 * kRow, kBuffers = 2;    // bytes of a staging buffer of C; buffers a warpgroup
inline constexpr int kMostShared = 227 * 1024;
inline constexpr int kCopierRegisters = 24, kOtherRegisters = 240;  // a thread; the launch gives 168
inline constexpr int kSuper = 16;  // tiles are numbered down strips of this many along m: neighbours share operands in L2

// A block's tile: kM rows of A, kN rows of B.  With two Weights, half of the kN rows are of each of two matrices B, and a thread
// holds the same elements of both products.  Turns: the two warpgroups take tiles in turns; else they share each tile.
template <int M, int N, bool Turns, int Weights = 1>
struct Shape {
  static constexpr int kM = M, kN = N, kWeights = Weights, kOut = N / Weights;
  static constexpr bool kTurns = Turns;
  static constexpr int kBlocks = M / (Turns ? 64 : 128);  // 64-row blocks of a tile for each warpgroup
  static constexpr int kApart = Turns ? 0 : M / 2;        // rows from one warpgroup's blocks to the other's
  static constexpr int kBytesA = M * kRow, kBytesB = N * kRow, kStage = kBytesA + kBytesB;
  static constexpr int kFixed = 2 * kBuffers * kBuffer + 256;
  static constexpr int kStages = (kMostShared - kFixed) / kStage < 8 ? (kMostShared - kFixed) / kStage : 8;
  static constexpr int kBufferAt = kStages * kStage, kBarrierAt = kBufferAt + 2 * kBuffers * kBuffer;
  static constexpr int kShared = kBarrierAt + 2 * kStages * 8;
  static_assert(kStages >= 3 && kOut >= 64 && kStage % 1024 == 0 && kBytesA % 1024 == 0 && (kOut * kRow) % 1024 == 0);
};

struct Work {
  int tiles_m, tiles_n, steps;
};
struct Place {
  int row, column;  // of the first of 4 values: two columns of two rows, 8 apart
};
__device__ inline Place tile_place(const Work& w, int tile) {
  const int per = kSuper * w.tiles_n, super = tile / per, first = super * kSuper, within = tile - super * per;
  const int height = w.tiles_m - first < kSuper ? w.tiles_m - first : kSuper, column = within / height;
  return {first + within - column * height, column};
}

// A stage of the ring and the parity of its phase.
template <int kStages>
struct Turn {
  int stage = 0, phase = 0;
  __device__ void next(int n = 1) {
    stage += n;
    phase ^= stage / kStages & 1;
    stage %= kStages;
  }
};

template <class S, class T>
__device__ inline void copy_stages(const TensorMap& a, const TensorMap& b, const TensorMap& second, const Work& work) {
  auto* const memory = box_memory<unsigned char>();
  auto* const full = box_memory<Barrier>(S::kBarrierAt);
  auto* const empty = full + S::kStages;
  Turn<S::kStages> t;
  const int tiles = work.tiles_m * work.tiles_n;
  for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
    const Place at = tile_place(work, tile);
    for (int k = 0; k < work.steps; ++k, t.next()) {
      unsigned char* const stage = memory + t.stage * S::kStage;
      barrier_wait(empty + t.stage, t.phase ^ 1);
      barrier_arrive_expect(full + t.stage, S::kStage);
      copy_box(stage, a, full + t.stage, k * kK, at.row * S::kM);
      copy_box(stage + S::kBytesA, b, full + t.stage, k * kK, at.column * S::kOut);
      if constexpr (S::kWeights == 2)
        copy_box(stage + S::kBytesA + S::kBytesB / 2, second, full + t.stage, k * kK, at.column * S::kOut);
    }
  }
}

// Multiplies this warpgroup's blocks of a tile, or of a piece of one, of shape I, over all steps.
template <class S, class I, class T>
__device__ inline void multiply(float (&acc)[I::kBlocks][I::kN / 2], int steps, int me, Turn<S::kStages>& t) {
  auto* const full = box_memory<Barrier>(S::kBarrierAt);
  auto* const empty = full + S::kStages;
  const int thread = static_cast<int>(threadIdx.x) % kGroup;
  // Note: the parity alone cannot tell a phase of this tile from one of the other warpgroup's tile before it.  So this
  // warpgroup begins after the other has waited for all phases of that tile.
  if constexpr (S::kTurns) sync_named(3 + me, 2 * kGroup);
  int before = -1;
  for (int k = 0; k < steps; ++k, t.next()) {
    barrier_wait(full + t.stage, t.phase);
    const unsigned char* const stage = box_memory<unsigned char>(t.stage * S::kStage);
    const auto of_a = k_major<T>(stage + me * I::kApart * kRow), of_b = k_major<T>(stage + S::kBytesA);
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
  if constexpr (S::kTurns) arrive_named(4 - me, 2 * kGroup);
  wgmma_wait<0>(acc);
  if (thread == 0) barrier_arrive(empty + before);
}

// Stores this warpgroup's 64-row blocks of a tile of C, 64 columns (a chunk) at a time.
template <class S, class T, class Epilogue>
__device__ inline void store_tile(float (&acc)[S::kBlocks][S::kN / 2], const TensorMap& c, int me, int row, int column,
                                  int columns, int& chunks, const Epilogue& epilogue) {
  const int thread = static_cast<int>(threadIdx.x) % kGroup, lane = lane_id();
  unsigned char* const buffers = box_memory<unsigned char>(S::kBufferAt) + me * kBuffers * kBuffer;
#pragma unroll
  for (int i = 0; i < S::kBlocks; ++i)
#pragma unroll
    for (int chunk = 0; chunk < (S::kOut + kK - 1) / kK; ++chunk) {
      // Note: if the tile's width is no multiple of 64, the last chunk overlaps the one before and stores some values again.
      const int first = chunk * kK + kK > S::kOut ? S::kOut - kK : chunk * kK;
      if (column + first >= columns) continue;
#pragma unroll
      for (int j = chunk * kK; j < first + kK; j += 8) {
        // Note: without this the compiler loads the whole tile's bias first, and spills.
        if (j % 32 == 0) keep_order();
        float v[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) v[e] = acc[i][j / 2 + e];
        epilogue.template apply<T>(v, S::kWeights == 2 ? acc[i] + (S::kOut + j) / 2 : nullptr,
                                   {row + i * 64 + thread / kWarp * 16 + lane / 4, column + j + lane % 4 * 2});
#pragma unroll
        for (int e = 0; e < 4; ++e) acc[i][j / 2 + e] = v[e];
      }
      unsigned char* const buffer = buffers + (chunks++ & 1) * kBuffer;
      if (thread == 0) store_wait_read<kBuffers - 1>();
      sync_named(1 + me, kGroup);
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const float* const v = acc[i] + first / 2 + q * 8;
        const unsigned words[4] = {pack<T>(v[0], v[1]), pack<T>(v[2], v[3]), pack<T>(v[4], v[5]), pack<T>(v[6], v[7])};
        const int r = thread / kWarp * 16 + lane % 16, piece = 2 * q + lane / 16;
        stmatrix<4>(reinterpret_cast<T*>(buffer + r * kRow + ((piece ^ (r & 7)) << 4)), words);
      }
      fence_shared_async();
      sync_named(1 + me, kGroup);
      if (thread == 0) {
        store_box(c, buffer, column + first, row + i * 64);
        store_commit();
      }
    }
}

// Epilogue: one of hopper_epilogue.cuh.  Its apply<T>(v, second, at) changes four results v; v[e] is at row at.row + 8 (e / 2),
// column at.column + e % 2; `second`: the same elements of the second matrix's product, or null.  kCycles: about how many cycles
// it takes for a tile of 128 x 256 that both warpgroups share.
template <class S, class T, class Epilogue>
__global__ void __launch_bounds__(kThreads, 1)
    hopper_product(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                   const __grid_constant__ TensorMap second, const __grid_constant__ TensorMap c, const Work work, int columns,
                   const Epilogue epilogue) {
  auto* const full = box_memory<Barrier>(S::kBarrierAt);
  auto* const empty = full + S::kStages;
  const int group = static_cast<int>(threadIdx.x) / kGroup, thread = static_cast<int>(threadIdx.x) % kGroup;
  if (threadIdx.x == 0) {
    prefetch_map(a);
    prefetch_map(b);
    for (int s = 0; s < S::kStages; ++s) {
      barrier_init(full + s, 1);
      barrier_init(empty + s, S::kTurns ? 1 : 2);
    }
    barriers_ready();
  }
  sync_block();
  next_grid_may_start();
  wait_for_previous_grid();

  if (group == 0) {
    give_registers<kCopierRegisters>();
    if (thread == 0) copy_stages<S, T>(a, b, second, work);
  } else {
    take_registers<kOtherRegisters>();
    const int me = group - 1, tiles = work.tiles_m * work.tiles_n;
    Turn<S::kStages> t;
    int turn = 0, chunks = 0;
    float acc[S::kBlocks][S::kN / 2];
    if (S::kTurns && me == 0) arrive_named(3, 2 * kGroup);
    for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x), turn ^= 1) {
      if (S::kTurns && turn != me) {
        t.next(work.steps);
        continue;
      }
      multiply<S, S, T>(acc, work.steps, me, t);
      const Place at = tile_place(work, tile);
      store_tile<S, T>(acc, c, me, at.row * S::kM + me * S::kApart, at.column * S::kOut, columns, chunks, epilogue);
    }
    if (thread == 0) store_wait<0>();
  }
}

// --- On the host ------------------------------------------------------------------------------------------------------

// Whether tensor copies can take these matrices, and the epilogue this bias.  Note: store_box fills the last 16 bytes of a row,
// so rows of y must be whole pieces of 16 bytes.
inline Legality takes(std::initializer_list<const Tensor*> operands, const Tensor& y, const void* bias = nullptr) {
  if (y.shape[1] * size_of(y.dtype) % 16 != 0) return Legality::no("needs an output whose rows are whole pieces of 16 bytes");
  if (reinterpret_cast<std::uintptr_t>(bias) % 4 != 0) return Legality::no("needs a bias that starts at a multiple of 4 bytes");
  const auto fits = [](const Tensor& t) {
    return t.rows_contiguous() && t.rows_aligned(16) && std::max(t.shape[0], t.shape[1]) < INT32_MAX - 256;
  };
  for (const Tensor* t : operands)
    if (!fits(*t)) return Legality::no("needs rows that start at multiples of 16 bytes, and extents below 2^31");
  return fits(y) ? Legality::yes() : Legality::no("needs rows that start at multiples of 16 bytes, and extents below 2^31");
}

inline constexpr int kFewTokens = 64;
inline Legality takes_few(std::initializer_list<const Tensor*> operands, const Tensor& y, const void* bias = nullptr) {
  return y.shape[0] > kFewTokens ? Legality::no("more than 64 tokens") : takes(operands, y, bias);
}

template <class T>
TensorMap map_of(const Tensor& t, int box_rows) {
  // Note: the stride of a single row is not used, and may be one that tensor_map refuses.
  const std::int64_t width = ceil_div(t.shape[1], 8) * 8, stride[] = {t.shape[0] > 1 ? t.stride[0] : width};
  return tensor_map<T>(t.as<T>(), {t.shape[1], t.shape[0]}, stride, {kK, box_rows}, Swizzle::by_128);
}

}  // namespace assay::ASSAY_FLAVOUR::hopper_gemm
