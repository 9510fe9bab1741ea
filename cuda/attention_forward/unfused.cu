// SPDX-License-Identifier: Apache-2.0
// One kernel per step, as a library without this op would run it: S = scale Q K^T, rounded to the dtype, into workspace; its
// softmax in place, and L; O = P V.  Products by tensor cores in 16 bits, FMA register tiles in f32; tiles that no query sees are
// skipped.  The baseline for the fused kernels, with all scores in memory.
#include "cuda/attention_forward/flash.cuh"
#include "cuda/attention_forward/materialised.cuh"
#include "cuda/core/fma_gemm.cuh"
#include "cuda/core/mma_gemm.cuh"

namespace assay::ROOM(attention_forward, unfused) {

inline constexpr int kTile = 128;                                        // queries and keys of a tile of scores
inline constexpr int kWarps = 4, kThreads = kWarps * kWarp, kKeys = 64;  // P V in 16 bits
inline constexpr int kSide = 64, kSlab = 32, kPart = 4, kFmaThreads = (kSide / kPart) * (kSide / kPart);  // P V in f32

static_assert(kTile == mma_gemm::kM && kTile == mma_gemm::kN && kTile == fma_gemm::kM && kTile == fma_gemm::kN);

Legality supports(const attention_forward::Args& a) {
  const Legality plain = only_masks(a);
  return !plain ? plain : a.q.dtype == f32 ? extents_fit(a) : fits_fragments(a);
}

KERNEL(attention_forward){
    .dtypes = {f16, bf16, f32},
    .min_arch = 80,
    .tiles = {tile(Axis::seq_q, kTile), tile(Axis::seq_k, kKeys)},
    // A thread of the softmax adds packs of up to 8 weights; the block reduction adds 10.
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kSoftmaxThreads, .extra = 8 + 10},
                 .mma_terms = 8,
                 .stores = "scores,weights"},
    .supports = supports,
    .workspace_bytes = bytes_of_scores,
};

// The tile of scores of this block; `seen`: whether any of its queries sees any of its keys.
struct ScoreTile {
  int batch, head, query, key;
  bool seen;
};
template <class T>
__device__ inline ScoreTile score_tile(const Problem<T>& p, int tiles_m, int tiles_n) {
  const int block = static_cast<int>(blockIdx.x), all = block / (tiles_m * tiles_n), rest = block % (tiles_m * tiles_n);
  const int query = rest / tiles_n * kTile, key = rest % tiles_n * kTile;
  const int last = query + kTile < p.queries ? query + kTile : p.queries;
  return {all / p.heads, all % p.heads, query, key, key < p.visible(last - 1)};
}

template <class T, bool kWide>
__global__ void __launch_bounds__(mma_gemm::kThreads, mma_gemm::kBlocksAnSm)
    attention_forward_unfused_scores_mma(Problem<T> p, Scores<T> scores, int tiles_m, int tiles_n) {
  using namespace mma_gemm;
  const ScoreTile tile = score_tile(p, tiles_m, tiles_n);
  if (!tile.seen) return;
  const Operand<T> q{p.q.of(tile.batch, tile.head), p.q.seq, p.queries};
  const Operand<T> k{p.k.of(tile.batch, tile.head / p.group), p.k.seq, p.keys};
  const Result<T> s{scores.row(p, tile.batch, tile.head, 0), scores.pitch, p.queries, scores.pitch, true};
  const int mine = linear_thread() / kChunks;
  Accumulators acc;
  multiply<T, kWide>(mma_gemm::Loader<T, kM>(q, tile.query + mine, kRowsAtOnce),
                     mma_gemm::Loader<T, kN>(k, tile.key + mine, kRowsAtOnce), p.dim, acc, NoScale{});
  for_pairs(acc, [&](int r, int c, float v0, float v1) { s.store(tile.query + r, tile.key + c, v0 * p.scale, v1 * p.scale); });
}

__global__ void __launch_bounds__(fma_gemm::kThreads)
    attention_forward_unfused_scores_fma(Problem<float> p, Scores<float> scores, int tiles_m, int tiles_n, bool wide) {
  using namespace fma_gemm;
  const ScoreTile tile = score_tile(p, tiles_m, tiles_n);
  if (!tile.seen) return;
  const Operand<float> q{p.q.of(tile.batch, tile.head), p.q.seq, p.queries, wide};
  const Operand<float> k{p.k.of(tile.batch, tile.head / p.group), p.k.seq, p.keys, wide};
  fma_gemm::Accumulators acc;
  multiply(q, k, tile.query, tile.key, p.dim, acc);
  for_each(acc, [&](int r, int c, float v) {
    if (tile.query + r < p.queries && tile.key + c < scores.pitch)
      st(scores.row(p, tile.batch, tile.head, tile.query + r) + tile.key + c, v * p.scale);
  });
}

// O = P V: V by cp.async into two alternating buffers, P from global memory straight into fragments.
template <class T, int kDim>
__global__ void __launch_bounds__(kThreads)
    attention_forward_unfused_values_mma(Problem<T> p, Scores<T> scores, Schedule schedule, bool wide_loads, bool wide_stores) {
  constexpr int kTilesM = kDim <= 128 ? 2 : 1, kQueries = kWarps * kTilesM * 16, kBuffer = kKeys * Rows128<kDim>::kPitch * 2;
  const QueryTile work = query_tile(schedule, static_cast<int>(blockIdx.x));
  const int first_query = work.tile * kQueries, warp_query = first_query + warp_id() * kTilesM * 16;
  const int last_query = first_query + kQueries < p.queries ? first_query + kQueries : p.queries;
  const int whole = p.visible(first_query) / kKeys, tiles = (p.visible(last_query - 1) + kKeys - 1) / kKeys;
  const T* const values = p.v.of(work.batch, work.head / p.group);
  // Flags for even and odd tiles: one is read while the next tile is checked.
  int* const special = shared_memory<int>(2 * kBuffer);

  const Loader<T, kDim, kThreads> loader{p.dim, wide_loads};
  const auto load = [&](int tile) {
    if (tile < tiles) loader.template load<kKeys>(shared_memory<T>(tile % 2 * kBuffer), values, p.v.seq, tile * kKeys, p.keys);
    cp_async_commit();
  };
  if (p.dim < kDim) loader.clear(shared_memory<T>(), 2 * kKeys);
  load(0);
  if (linear_thread() < 2) st(special + linear_thread(), 0);
  sync_block();

  Flash<T, Mma16, kDim, kTilesM, kKeys> flash;
  flash.start();
  for (int tile = 0; tile < tiles; ++tile) {
    const T* const v = shared_memory<T>(tile % 2 * kBuffer);
    cp_async_wait<0>();
    if (tile >= whole && loader.template special<kKeys>(v)) atomic_add(special + tile % 2, 1);
    sync_block();
    load(tile + 1);
    typename decltype(flash)::Scores weights;
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int query = warp_query + i * 16 + h * 8 + lane_id() / 4, first = tile * kKeys + lane_id() % 4 * 2;
        const T* const row = scores.row(p, work.batch, work.head, query);
#pragma unroll
        for (int n = 0; n < kKeys / 8; ++n) {
          const bool there = query < p.queries && first + n * 8 < scores.pitch;
          const auto pair = unpack<T>(there ? ld(reinterpret_cast<const unsigned*>(row + first + n * 8)) : 0u);
          weights[i][n][2 * h] = pair[0];
          weights[i][n][2 * h + 1] = pair[1];
        }
      }
    if (tile >= whole && ld(special + tile % 2)) flash.add_visible_values(weights, v, p, warp_query, tile * kKeys);
    else flash.add_values(weights, v);
  }
  cp_async_wait<0>();
  sync_block();
  flash.template finish<false>(p, work.batch, work.head, warp_query,
                               shared_memory<T>() + warp_id() * kTilesM * 16 * Rows128<kDim>::kPitch, wide_stores);
}

// O = P V in f32: 64 queries x 64 channels per block, 4 x 4 per thread, 32 keys per step.
__global__ void __launch_bounds__(kFmaThreads)
    attention_forward_unfused_values_fma(Problem<float> p, Scores<float> scores, int tiles_m, int tiles_n) {
  constexpr int kPitch = kSlab + 1, kAcross = kSide / kPart;
  const int block = static_cast<int>(blockIdx.x), all = block / (tiles_m * tiles_n), rest = block % (tiles_m * tiles_n);
  const int batch = all / p.heads, head = all % p.heads;
  const int first_query = rest / tiles_n * kSide, first_channel = rest % tiles_n * kSide;
  const int thread = linear_thread(), y = thread / kAcross * kPart, x = thread % kAcross * kPart;
  float* const weights = shared_memory<float>();
  float* const values = shared_memory<float>(((kSide * kPitch + 3) / 4 * 4) * sizeof(float));
  const float* const v = p.v.of(batch, head / p.group);
  const int last = first_query + kSide < p.queries ? first_query + kSide : p.queries, seen_by_all = p.visible(last - 1);

  float o[kPart][kPart] = {};
  for (int first = 0; first < seen_by_all; first += kSlab) {
    for (int i = thread; i < kSide * kSlab; i += kFmaThreads) {
      const int query = first_query + i / kSlab, key = first + i % kSlab;
      st(weights + i / kSlab * kPitch + i % kSlab,
         query < p.queries && key < p.keys ? ld(scores.row(p, batch, head, query) + key) : 0.0f);
    }
    for (int i = thread; i < kSide * kSlab; i += kFmaThreads) {
      const int key = first + i / kSide, channel = first_channel + i % kSide;
      st(values + i, key < p.keys && channel < p.dim ? ld(v + key * p.v.seq + channel) : 0.0f);
    }
    sync_block();
    for (int key = 0; key < kSlab; ++key) {
      const auto value = ld(reinterpret_cast<const Vec<float, kPart>*>(values + key * kSide + x));
#pragma unroll
      for (int i = 0; i < kPart; ++i) {
        // Note: a hidden key is skipped, since its weight 0 times NaN would be NaN.
        if (first + key >= p.visible(first_query + y + i)) continue;
        const float weight = ld(weights + (y + i) * kPitch + key);
#pragma unroll
        for (int j = 0; j < kPart; ++j) o[i][j] = fmaf(weight, value[j], o[i][j]);
      }
    }
    sync_block();
  }
#pragma unroll
  for (int i = 0; i < kPart; ++i) {
    const int query = first_query + y + i;
    if (query >= p.queries) continue;
    const bool none = ld(p.lse.of(batch, head) + query * p.lse.seq) == -INFINITY;  // all weights are 0, but 0 times NaN is NaN
#pragma unroll
    for (int j = 0; j < kPart; ++j)
      if (first_channel + x + j < p.dim) st(p.o.of(batch, head) + query * p.o.seq + first_channel + x + j, none ? 0.0f : o[i][j]);
  }
}

template <class T>
void run_mma(const attention_forward::Args& a, const Launch& l) {
  const Problem<T> p = problem<T>(a);
  const Scores<T> s{static_cast<T*>(l.workspace), pitch(a)};
  const std::int64_t tiles_m = ceil_div(p.queries, kTile), tiles_n = ceil_div(p.keys, kTile), heads = a.q.shape[0] * p.heads;
  const bool wide = a.q.rows_aligned(kAccess) && a.k.rows_aligned(kAccess);
  if (p.keys > 0)
    launch(wide ? attention_forward_unfused_scores_mma<T, true> : attention_forward_unfused_scores_mma<T, false>,
           {.grid = dim3(heads * tiles_m * tiles_n), .block = dim3(mma_gemm::kThreads), .shared_bytes = mma_gemm::kSharedBytes},
           l.stream, p, s, tiles_m, tiles_n);
  run_softmax(p, s, l);
  with_dim(p.dim, [&]<int kDim>(std::integral_constant<int, kDim>) {
    constexpr int kQueries = kWarps * (kDim <= 128 ? 32 : 16);
    const Schedule order = schedule(p, kQueries);
    launch(attention_forward_unfused_values_mma<T, kDim>,
           {.grid = dim3(heads * order.tiles),
            .block = dim3(kThreads),
            .shared_bytes = 2 * kKeys * Rows128<kDim>::kPitch * sizeof(T) + 2 * sizeof(int)},
           l.stream, p, s, order, a.v.rows_aligned(kAccess), a.o.rows_aligned(kAccess));
  });
}

void run_fma(const attention_forward::Args& a, const Launch& l) {
  const Problem<float> p = problem<float>(a);
  const Scores<float> s{static_cast<float*>(l.workspace), pitch(a)};
  const std::int64_t heads = a.q.shape[0] * p.heads;
  const bool wide = a.q.rows_aligned(kAccess) && a.k.rows_aligned(kAccess);
  if (p.keys > 0) {
    const std::int64_t tiles_m = ceil_div(p.queries, kTile), tiles_n = ceil_div(p.keys, kTile);
    launch(attention_forward_unfused_scores_fma,
           {.grid = dim3(heads * tiles_m * tiles_n), .block = dim3(fma_gemm::kThreads), .shared_bytes = fma_gemm::kSharedBytes},
           l.stream, p, s, tiles_m, tiles_n, wide);
  }
  run_softmax(p, s, l);
  const std::int64_t tiles_m = ceil_div(p.queries, kSide), tiles_n = ceil_div(p.dim, kSide);
  launch(attention_forward_unfused_values_fma,
         {.grid = dim3(heads * tiles_m * tiles_n),
          .block = dim3(kFmaThreads),
          .shared_bytes = ((kSide * (kSlab + 1) + 3) / 4 * 4 + kSlab * kSide) * sizeof(float)},
         l.stream, p, s, tiles_m, tiles_n);
}

void run(const attention_forward::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  if (a.q.dtype == f32) return run_fma(a, l);
  with_half_type(a.q.dtype, [&]<class T>(Type<T>) { run_mma<T>(a, l); });
}

}  // namespace assay::ROOM(attention_forward, unfused)
