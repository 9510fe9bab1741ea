// SPDX-License-Identifier: Apache-2.0
// Tensor cores (cuda/core/mma_gemm.cuh), the row statistics in the epilogue: y = r (sum (x - p) gw - (mean - p) sum gw) + sum bw,
// gw = gamma w, rounded, bw = beta w.  The pivot p is the mean in the dtype, so a large mean costs the product no digits: x - p
// is exact there.  x - p is scaled by a power of two to deviation 1 ... 2, so no dtype overflows.  Two small kernels compute mean
// and r of every row, sum gw and sum bw of every feature.
#include "cuda/core/mma_epilogue.cuh"
#include "cuda/core/mma_gamma.cuh"
#include "cuda/layernorm_linear/row.cuh"

namespace assay::ROOM(layernorm_linear, mma_tiled) {

using namespace mma_gemm;

struct alignas(8) Sums {
  float gain, shift;  // sum gw, sum bw
};

std::size_t workspace_bytes(const layernorm_linear::Args& a) {
  return statistics_bytes(a) + static_cast<std::size_t>(a.y.shape[1]) * sizeof(Sums);
}

KERNEL(layernorm_linear){
    .dtypes = {f16, bf16},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, kM), tile(Axis::out, kN), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32, .chain = kRowChain, .mma_terms = 8, .stores = "pivoted,scaled_weight", .ways = "folded"},
    .workspace_bytes = workspace_bytes,
};

// One block per feature.
template <class T, int N>
__global__ void __launch_bounds__(kRowThreads)
    layernorm_linear_sums(Operand<T> weight, const T* gamma, const T* beta, std::int64_t hidden, Sums* to) {
  using Pack = Vec<T, N>;
  const T* const w = weight.data + blockIdx.x * weight.stride;
  float gain = 0, shift = 0;
  const auto add = [&](T weight_of, T gamma_of, T beta_of) {
    const float v = to_float(weight_of);
    gain += to_float(from_float<T>(to_float(gamma_of) * v));
    shift = fmaf(to_float(beta_of), v, shift);
  };
  const std::int64_t packs = hidden / N;
  for (std::int64_t p = threadIdx.x; p < packs; p += kRowThreads) {
    const Pack v = ld(reinterpret_cast<const Pack*>(w) + p), g = ld(reinterpret_cast<const Pack*>(gamma) + p);
    const Pack b = ld(reinterpret_cast<const Pack*>(beta) + p);
#pragma unroll
    for (int j = 0; j < N; ++j) add(v[j], g[j], b[j]);
  }
  if (const std::int64_t h = row_pack::tail_column<N>(hidden, static_cast<int>(threadIdx.x)); h < hidden)
    add(ld(w + h), ld(gamma + h), ld(beta + h));
  float* const scratch = shared_memory<float>();
  gain = block_sum(gain, scratch);
  shift = block_sum(shift, scratch);
  if (threadIdx.x == 0) st(to + blockIdx.x, Sums{gain, shift});
}

// Transformation of a row: the product takes (x - pivot) scale; y = factor (sum - rest gain) + shift.
template <class T>
struct Centre {
  float pivot, scale, rest, factor;
  __device__ explicit Centre(const Statistics& s) {
    pivot = to_float(from_float<T>(s.mean));
    const int e = s.r > 0.0f && s.r < INFINITY ? ilogbf(s.r) : 0;
    scale = ldexpf(1.0f, e);
    rest = (s.mean - pivot) * scale;
    factor = ldexpf(s.r, -e);
  }
};

// Multiplies fragments of B by gamma; centres and scales those of A: word w of tile i has row g + 8 (w % 2), g = lane / 4, and
// channels 2t + 8 (w / 2) and the next, t = lane % 4.  Note: channels past the end are masked, since -pivot scale may be inf, and
// inf times B's zeros is NaN.
template <class T, bool kWide>
struct CentreAndScale {
  TimesGamma<T, kWide> gamma;
  std::int64_t left;  // channels from this lane's first on
  float pivot[kTilesM][2] = {}, scale[kTilesM][2] = {};

  __device__ CentreAndScale(const T* gamma_row, std::int64_t hidden, const Statistics* statistics, std::int64_t row,
                            std::int64_t rows)
      : gamma{gamma_row, hidden}, left(hidden - lane_id() % 4 * 2) {
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const std::int64_t token = row + warp_row() + lane_id() / 4 + i * 16 + half * 8;
        if (token >= rows) continue;
        const Centre<T> centre(ld(statistics + token));
        pivot[i][half] = centre.pivot;
        scale[i][half] = centre.scale;
      }
  }
  __device__ void load(int stage, std::int64_t k) const { gamma.load(stage, k); }
  __device__ void fetch(int stage, int step) { gamma.fetch(stage, step); }
  // Called for each 16 channels in turn.
  __device__ void apply(Fragments<T>& f, int step) {
    gamma.apply(f, step);
    unsigned there[2];
#pragma unroll
    for (int part = 0; part < 2; ++part) there[part] = left > 8 * part + 1 ? 0xffffffffu : left > 8 * part ? 0xffffu : 0u;
    left -= 16;
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        const Vec<float, 2> v = unpack<T>(f.a[i][word]);
        const float p = pivot[i][word % 2], s = scale[i][word % 2];
        f.a[i][word] = pack<T>((v[0] - p) * s, (v[1] - p) * s) & there[word / 2];
      }
  }
};

template <class T, bool kWide>
__global__ void __launch_bounds__(kThreads, kBlocksAnSm)
    layernorm_linear_mma_tiled(Operand<T> x, const T* gamma, Operand<T> weight, const T* bias, const Statistics* statistics,
                               const Sums* sums, Result<T> y, std::int64_t hidden, bool wide_stores) {
  const TilePlace tile = tile_place(ceil_div(y.rows, kM), ceil_div(y.columns, kN));
  const std::int64_t row = tile.m * kM, column = tile.n * kN, mine = linear_thread() / kChunks;
  Accumulators acc;
  multiply<T, kWide>(Loader<T, kM>(x, row + mine, kRowsAtOnce), Loader<T, kN>(weight, column + mine, kRowsAtOnce), hidden, acc,
                     CentreAndScale<T, kWide>(gamma, hidden, statistics, row, y.rows));

  // Epilogue: 8 columns of a row at a time.
  const std::int64_t first = column + chunk_column();
  float gain[kChunk], shift[kChunk], offset[kChunk];
#pragma unroll
  for (int j = 0; j < kChunk; ++j) {
    const bool here = first + j < y.columns;
    const Sums s = here ? ld(sums + first + j) : Sums{};
    gain[j] = s.gain;
    shift[j] = s.shift;
    offset[j] = here && bias != nullptr ? to_float(ld(bias + first + j)) : 0.0f;
  }
  for_chunks(acc, [&](int r, float(&v)[kChunk]) {
    if (row + r >= y.rows) return;
    const Centre<T> centre(ld(statistics + row + r));
#pragma unroll
    for (int j = 0; j < kChunk; ++j) {
      v[j] = fmaf(centre.factor, fmaf(-centre.rest, gain[j], v[j]), shift[j]);
      if (bias != nullptr) v[j] += offset[j];
    }
    store_chunk(y, row + r, first, v, wide_stores);
  });
}

void run(const layernorm_linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], tiles = ceil_div(tokens, kM) * ceil_div(out, kN);
  if (tiles == 0) return;
  Statistics* const statistics = static_cast<Statistics*>(l.workspace);
  Sums* const sums = reinterpret_cast<Sums*>(statistics + tokens);
  const bool aligned = a.weight.rows_aligned(kAccess) && a.gamma.rows_aligned(kAccess);
  const bool wide = a.x.rows_aligned(kAccess) && aligned;
  const auto go = [&]<class T, bool kWide>(Type<T>, std::bool_constant<kWide>) {
    launch(layernorm_linear_mma_tiled<T, kWide>,
           {.grid = dim3(tiles), .block = dim3(kThreads), .shared_bytes = kBlockSharedBytes}, l.stream, operand<T>(a.x),
           a.gamma.as<T>(), operand<T>(a.weight), a.bias.as<T>(), statistics, sums, result<T>(a.y), a.x.shape[1],
           a.y.rows_aligned(kAccess));
  };
  with_half_type(a.x.dtype, [&]<class T>(Type<T> t) {
    run_statistics<T>(a, statistics, l.stream);
    const auto sum = [&]<int N>(std::integral_constant<int, N>) {
      launch(layernorm_linear_sums<T, N>, {.grid = dim3(out), .block = dim3(kRowThreads), .shared_bytes = kRowSharedBytes},
             l.stream, operand<T>(a.weight), a.gamma.as<T>(), a.beta.as<T>(), a.x.shape[1], sums);
    };
    aligned&& a.beta.rows_aligned(kAccess) ? sum(std::integral_constant<int, kChunk>{}) : sum(std::integral_constant<int, 1>{});
    wide ? go(t, std::true_type{}) : go(t, std::false_type{});
  });
}

}  // namespace assay::ROOM(layernorm_linear, mma_tiled)
