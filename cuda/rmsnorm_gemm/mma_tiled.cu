// SPDX-License-Identifier: Apache-2.0
// y = r (x (gamma * W)^T) on tensor cores (cuda/core/mma_gemm.cuh): x goes in as it is, a first kernel takes r of every row, and
// r is applied once, to the accumulators.  gamma meets the fragments of W in registers, two 16-bit products an instruction,
// each rounded; it is copied to shared memory with the tiles.
#include "cuda/core/mma_gemm.cuh"
#include "cuda/rmsnorm_gemm/row.cuh"

namespace assay::ROOM(rmsnorm_gemm, mma_tiled) {

using namespace mma_gemm;

KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16},
    .least_arch = 80,
    .tiles = {tile(Axis::tokens, kM), tile(Axis::out, kN), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32, .chain = kRowChain, .mma_terms = 8, .rounds_weights = true},
    .workspace_bytes = inverse_rms_bytes,
};

inline constexpr std::size_t kGammaShared = mma_gemm::kSharedBytes;  // where gamma's stages lie: behind the tiles
inline constexpr std::size_t kBlockSharedBytes = kGammaShared + std::size_t{kStages} * kK * 2;

// Multiplies fragments of B by gamma: of 16 channels, a lane holds 2t, 2t + 1 (part 0) and 2t + 8, 2t + 9 (part 1), t = lane % 4.
// gamma comes by way of shared memory, with zeros beyond its end: without a branch, so that the compiler may put the products
// between the mma.
template <class T, bool kWide>
struct TimesGamma {
  const T* gamma;
  std::int64_t hidden;
  unsigned words[2][2] = {};  // of this step and of the next, by part

  __device__ static T* shared(int stage) { return shared_memory<T>(kGammaShared) + stage * kK; }
  __device__ void load(int stage, std::int64_t k) const {
    const int thread = linear_thread();
    if constexpr (kWide) {
      if (thread >= kChunks) return;
      const std::int64_t h = k + thread * kChunk, left = hidden - h;
      const int valid = left >= kChunk ? kAccess : left > 0 ? static_cast<int>(left) * 2 : 0;
      cp_async<kAccess>(shared(stage) + thread * kChunk, valid ? gamma + h : gamma, valid);
    } else if (thread < kK) {
      st(shared(stage) + thread, k + thread < hidden ? ld(gamma + k + thread) : from_float<T>(0.0f));
    }
  }
  __device__ void fetch(int stage, int step) {
#pragma unroll
    for (int part = 0; part < 2; ++part)
      words[step % 2][part] = ld(reinterpret_cast<const unsigned*>(shared(stage) + step * 16 + part * 8 + lane_id() % 4 * 2));
  }
  __device__ void apply(Fragments<T>& f, int step) const {
#pragma unroll
    for (int j = 0; j < kTilesN / 2; ++j)
#pragma unroll
      for (int part = 0; part < 4; ++part) f.b[j][part] = multiply_packed<T>(f.b[j][part], words[step % 2][part % 2]);
  }
};
static_assert(kK <= kThreads && kChunks <= kThreads);

template <class T, bool kWide>
__global__ void __launch_bounds__(kThreads, kBlocksAnSm)
    rmsnorm_gemm_mma_tiled(Operand<T> x, const T* gamma, Operand<T> weight, const float* r, Result<T> y, std::int64_t hidden) {
  const TilePlace tile = tile_place(ceil_div(y.rows, kM), ceil_div(y.columns, kN));
  const std::int64_t row = tile.m * kM, column = tile.n * kN, mine = linear_thread() / kChunks;
  Accumulators acc;
  multiply<T, kWide>(Loader<T, kM>(x, row + mine, kRowsAtOnce), Loader<T, kN>(weight, column + mine, kRowsAtOnce), hidden, acc,
                     TimesGamma<T, kWide>{gamma, hidden});
#pragma unroll
  for (int i = 0; i < kTilesM; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::int64_t token = row + warp_row() + lane_id() / 4 + i * 16 + half * 8;
      const float scale = token < y.rows ? ld(r + token) : 0.0f;
#pragma unroll
      for (int j = 0; j < kTilesN; ++j) acc.c[i][j][half * 2] *= scale, acc.c[i][j][half * 2 + 1] *= scale;
    }
  for_pairs(acc, [&](int dr, int dc, float v0, float v1) { y.store(row + dr, column + dc, v0, v1); });
}

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  const std::int64_t tiles = ceil_div(a.y.shape[0], kM) * ceil_div(a.y.shape[1], kN);
  if (tiles == 0) return;
  float* const r = static_cast<float*>(l.workspace);
  const bool wide = a.x.rows_aligned(mma_gemm::kAccess) && a.weight.rows_aligned(mma_gemm::kAccess) &&
                    a.gamma.rows_aligned(mma_gemm::kAccess);
  const auto go = [&]<class T, bool kWide>(Type<T>, std::bool_constant<kWide>) {
    launch(rmsnorm_gemm_mma_tiled<T, kWide>, {.grid = dim3(tiles), .block = dim3(kThreads), .shared_bytes = kBlockSharedBytes},
           l.stream, operand<T>(a.x), a.gamma.as<T>(), operand<T>(a.weight), r, result<T>(a.y), a.x.shape[1]);
  };
  with_half_type(a.x.dtype, [&]<class T>(Type<T> t) {
    run_inverse_rms<T>(a, r, l.stream);
    wide ? go(t, std::true_type{}) : go(t, std::false_type{});
  });
}

}  // namespace assay::ROOM(rmsnorm_gemm, mma_tiled)
