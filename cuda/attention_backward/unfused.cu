// SPDX-License-Identifier: Apache-2.0
// One kernel per step, as a library without this op would run it: D; P = exp(scale Q K^T - L) and dS = P * (dO V^T - D), rounded
// to the dtype, in workspace; dQ = dS K, dK = dS^T Q, dV = P^T dO.  Tensor cores in bf16, FMA register tiles in f32; tiles
// without a visible pair are skipped.  Not for f16, where dS may overflow.  The baseline for the fused kernels.
#include "cuda/attention_backward/gradients.cuh"
#include "cuda/core/fma_gemm.cuh"
#include "cuda/core/mma_gemm.cuh"

namespace assay::ROOM(attention_backward, unfused) {

inline constexpr int kTile = 128;                                                         // queries and keys of a tile
inline constexpr int kWarps = 4, kThreads = kWarps * kWarp, kBlockRows = kWarps * kRows;  // a gradient in 16 bits
inline constexpr int kSide = 64, kSlab = 32, kPart = 4, kFmaThreads = (kSide / kPart) * (kSide / kPart);  // a gradient in f32

static_assert(kTile == mma_gemm::kM && kTile == mma_gemm::kN && kTile == fma_gemm::kM && kTile == fma_gemm::kN);

// Rows of P and dS are padded to whole tiles.
std::int64_t pitch(const attention_backward::Args& a) { return ceil_div(a.k.shape[1], kTile) * kTile; }
std::size_t bytes_of_pairs(const attention_backward::Args& a) {
  return static_cast<std::size_t>(a.q.shape[0] * a.q.shape[1] * a.q.shape[2] * pitch(a) * size_of(a.q.dtype));
}
std::size_t workspace_bytes(const attention_backward::Args& a) { return bytes_of_d(a) + 2 * bytes_of_pairs(a); }
Legality supports(const attention_backward::Args& a) { return a.q.dtype == f32 ? extents_fit(a) : fits_fragments(a); }

KERNEL(attention_backward){
    .dtypes = {bf16, f32},
    .min_arch = 80,
    .tiles = {tile(Axis::seq_q, kTile), tile(Axis::seq_k, kTile)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .mma_terms = 8, .stores = "p,ds"},
    .supports = supports,
    .workspace_bytes = workspace_bytes,
};

// P or dS: [batch, heads, seq_q, pitch].
template <class T>
struct Pairs {
  T* data;
  std::int64_t pitch;
  __device__ T* row(const Problem<T>& p, int batch, int head, int query) const {
    return data + ((static_cast<std::int64_t>(batch) * p.heads + head) * p.queries + query) * pitch;
  }
};

// The tile of pairs of this block; `seen`: whether any pair is visible.
struct PairTile {
  int batch, head, query, key;
  bool seen;
};
template <class T>
__device__ inline PairTile pair_tile(const Problem<T>& p, int tiles_m, int tiles_n) {
  const int block = static_cast<int>(blockIdx.x), all = block / (tiles_m * tiles_n), rest = block % (tiles_m * tiles_n);
  const int query = rest / tiles_n * kTile, key = rest % tiles_n * kTile;
  const int last = query + kTile < p.queries ? query + kTile : p.queries;
  return {all / p.heads, all % p.heads, query, key, key < p.visible(last - 1)};
}

// Computes P of a pair from Q K^T, or dS from dO V^T and P; hidden pairs are zero.
enum class Step { weights, gradients };
template <Step kStep, class T>
__device__ inline float pair_value(const Problem<T>& p, const PairTile& t, const Pairs<T>& weights, int query, int key,
                                   float product) {
  const float lse = ld(p.lse.row(t.batch, t.head, query));
  if (key >= p.visible(query) || lse == -INFINITY) return 0;
  if constexpr (kStep == Step::weights) return expf(fmaf(product, p.scale, -lse));
  else return to_float(ld(weights.row(p, t.batch, t.head, query) + key)) * (product - ld(p.d_of(t.batch, t.head) + query));
}

template <Step kStep, class T, bool kWide>
__global__ void __launch_bounds__(mma_gemm::kThreads, mma_gemm::kBlocksAnSm)
    attention_backward_unfused_pairs_mma(Problem<T> p, Pairs<T> weights, Pairs<T> out, int tiles_m, int tiles_n) {
  using namespace mma_gemm;
  const PairTile tile = pair_tile(p, tiles_m, tiles_n);
  if (!tile.seen) return;
  const auto& x = kStep == Step::weights ? p.q : p.d_o;
  const auto& y = kStep == Step::weights ? p.k : p.v;
  const Operand<T> rows{x.of(tile.batch, tile.head), x.seq, p.queries};
  const Operand<T> columns{y.of(tile.batch, tile.head / p.group), y.seq, p.keys};
  const int mine = linear_thread() / kChunks;
  Accumulators acc;
  multiply<T, kWide>(mma_gemm::Loader<T, kM>(rows, tile.query + mine, kRowsAtOnce),
                     mma_gemm::Loader<T, kN>(columns, tile.key + mine, kRowsAtOnce), p.dim, acc, NoScale{});
  for_pairs(acc, [&](int r, int c, float v0, float v1) {
    const int query = tile.query + r, key = tile.key + c;
    if (query >= p.queries) return;
    const float v[2] = {pair_value<kStep>(p, tile, weights, query, key, v0),
                        pair_value<kStep>(p, tile, weights, query, key + 1, v1)};
    st(reinterpret_cast<Vec<T, 2>*>(out.row(p, tile.batch, tile.head, query) + key), from_floats<T>(v));
  });
}

template <Step kStep>
__global__ void __launch_bounds__(fma_gemm::kThreads)
    attention_backward_unfused_pairs_fma(Problem<float> p, Pairs<float> weights, Pairs<float> out, int tiles_m, int tiles_n,
                                         bool wide) {
  using namespace fma_gemm;
  const PairTile tile = pair_tile(p, tiles_m, tiles_n);
  if (!tile.seen) return;
  const auto& x = kStep == Step::weights ? p.q : p.d_o;
  const auto& y = kStep == Step::weights ? p.k : p.v;
  const Operand<float> rows{x.of(tile.batch, tile.head), x.seq, p.queries, wide};
  const Operand<float> columns{y.of(tile.batch, tile.head / p.group), y.seq, p.keys, wide};
  fma_gemm::Accumulators acc;
  multiply(rows, columns, tile.query, tile.key, p.dim, acc);
  for_each(acc, [&](int r, int c, float v) {
    const int query = tile.query + r, key = tile.key + c;
    if (query < p.queries) st(out.row(p, tile.batch, tile.head, query) + key, pair_value<kStep>(p, tile, weights, query, key, v));
  });
}

enum class Of { dq, dk, dv };

// What a block of a gradient sums: `most` rows from `first` on, over columns [begin, end) of `heads` heads starting at `head`.
// `all`: the head's index over all sequences.
struct Range {
  int batch, kv, head, heads, first, rows, begin, end;
};
template <Of kOf, class T>
__device__ inline Range range(const Problem<T>& p, int all, int first, int most) {
  constexpr bool kQueries = kOf == Of::dq;
  const int heads = kQueries ? p.heads : p.heads / p.group, head = all % heads;
  const int rows = kQueries ? p.queries : p.keys, last = first + most < rows ? first + most - 1 : rows - 1;
  return {all / heads, kQueries ? head / p.group : head,  kQueries ? head : head * p.group,      kQueries ? 1 : p.group, first,
          rows,        kQueries ? 0 : p.seen_from(first), kQueries ? p.visible(last) : p.queries};
}
template <Of kOf, class T>
__device__ inline bool counts(const Problem<T>& p, const Range& r, int head, int row, int column) {
  const int query = kOf == Of::dq ? row : column, key = kOf == Of::dq ? column : row;
  return query < p.queries && key < p.visible(query) && ld(p.lse.row(r.batch, head, query)) != -INFINITY;
}

// 64 rows per block: tiles of P or dS and of the other factor are loaded by cp.async into two alternating stages.
template <class T, int kDim, Of kOf>
__global__ void __launch_bounds__(kThreads)
    attention_backward_unfused_sum_mma(Problem<T> p, Pairs<T> pairs, int tiles, bool wide_loads, bool wide_stores) {
  constexpr bool kQueries = kOf == Of::dq;
  constexpr int kColumns = kDim <= 128 ? 64 : 32;
  constexpr int kWeightsPitch = Rows128<64>::kPitch, kWeightsBytes = 64 * kWeightsPitch * 2;
  constexpr int kStage = kWeightsBytes + kColumns * Rows128<kDim>::kPitch * 2;
  using G = Gradients<T, kDim, kColumns>;
  const int block = static_cast<int>(blockIdx.x);
  const Range r = range<kOf>(p, block / tiles, block % tiles * kBlockRows, kBlockRows);
  const auto& other = kOf == Of::dq ? p.k : kOf == Of::dk ? p.q : p.d_o;
  const int first_tile = r.begin / kColumns, of_head = r.end > r.begin ? (r.end + kColumns - 1) / kColumns - first_tile : 0;
  int* const special = shared_memory<int>(2 * kStage);
  const auto weights_of = [](int step) { return shared_memory<T>(step % 2 * kStage); };
  const auto other_of = [](int step) { return shared_memory<T>(step % 2 * kStage + kWeightsBytes); };

  const Loader<T, 64, kThreads> weights_loader{kQueries ? kColumns : 64, true};
  const Loader<T, kDim, kThreads> loader{p.dim, wide_loads};
  const auto load = [&](int step) {
    if (step < of_head * r.heads) {
      const int head = r.head + step / of_head, at = (first_tile + step % of_head) * kColumns;
      const T* const from = pairs.row(p, r.batch, head, 0) + (kQueries ? at : r.first);
      if constexpr (kQueries) weights_loader.template load<kBlockRows>(weights_of(step), from, pairs.pitch, r.first, p.queries);
      else weights_loader.template load<kColumns>(weights_of(step), from, pairs.pitch, at, p.queries);
      loader.template load<kColumns>(other_of(step), other.of(r.batch, kQueries ? r.kv : head), other.seq, at,
                                     kQueries ? p.keys : p.queries);
    }
    cp_async_commit();
  };
  if (p.dim < kDim)
    for (int step = 0; step < 2; ++step) loader.clear(other_of(step), kColumns);
  if (linear_thread() < 2) st(special + linear_thread(), 0);
  sync_block();
  load(0);

  typename G::Sum sum;
  G::clear(sum);
  const int own = r.first + warp_id() * kRows;
  for (int step = 0; step < of_head * r.heads; ++step) {
    const int head = r.head + step / of_head, at = (first_tile + step % of_head) * kColumns;
    cp_async_wait<0>();
    if (loader.template special<kColumns>(other_of(step))) atomic_add(special + step % 2, 1);
    sync_block();
    load(step + 1);

    // A fragments: dS directly, P^T and dS^T with the transposing load.
    const int lane = fresh(lane_id()), row = warp_id() * kRows;
    typename G::Weights weights;
#pragma unroll
    for (int s = 0; s < kColumns / 16; ++s) {
      unsigned a[4];
      if constexpr (kQueries) ldmatrix<4>(a, weights_of(step) + Rows128<64>::place(row + lane % 16, 2 * s + lane / 16));
      else
        ldmatrix_trans<4>(a,
                          weights_of(step) + Rows128<64>::place(s * 16 + lane / 16 * 8 + lane % 8, row / kChunk + lane / 8 % 2));
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const Vec<float, 2> pair = unpack<T>(a[i]);
        weights[2 * s + i / 2][i % 2 * 2] = pair[0];
        weights[2 * s + i / 2][i % 2 * 2 + 1] = pair[1];
      }
    }
    const auto counted = [&](int half, int column) {
      const int mine = own + half * 8 + fresh(lane_id()) / 4;
      return mine < r.rows && counts<kOf>(p, r, head, mine, at + column);
    };
    if (ld(special + step % 2)) G::add_counted(sum, weights, other_of(step), counted);
    else G::add(sum, weights, other_of(step));
  }

  cp_async_wait<0>();
  sync_block();
  if (own >= r.rows) return;
  bool dead[2] = {};
  for (int h = 0; h < 2; ++h)
    if (const int query = own + h * 8 + lane_id() / 4; kQueries && query < p.queries)
      dead[h] = ld(p.lse.row(r.batch, r.head, query)) == -INFINITY;
  const auto& out = kOf == Of::dq ? p.dq : kOf == Of::dk ? p.dk : p.dv;
  G::store(sum, kOf == Of::dv ? 1.0f : p.scale, dead, out.of(r.batch, kQueries ? r.head : r.kv), out.seq, own, r.rows, p.dim,
           shared_memory<T>(warp_id() * kRows * Rows128<kDim>::kPitch * 2), wide_stores);
}

// The same in f32: 64 rows x 64 channels per block, 4 x 4 per thread, 32 columns per step.
template <Of kOf>
__global__ void __launch_bounds__(kFmaThreads)
    attention_backward_unfused_sum_fma(Problem<float> p, Pairs<float> pairs, int tiles, int channel_tiles) {
  constexpr bool kQueries = kOf == Of::dq;
  constexpr int kPitch = kSide + 4, kAcross = kSide / kPart;
  const int block = static_cast<int>(blockIdx.x), first_channel = block % channel_tiles * kSide;
  const Range r = range<kOf>(p, block / channel_tiles / tiles, block / channel_tiles % tiles * kSide, kSide);
  const int first = r.first, end = r.end;
  const auto& other = kOf == Of::dq ? p.k : kOf == Of::dk ? p.q : p.d_o;
  const int thread = linear_thread(), y = thread / kAcross * kPart, x = thread % kAcross * kPart;
  float* const weights = shared_memory<float>();                               // [kSlab][kPitch]
  float* const values = shared_memory<float>(kSlab * kPitch * sizeof(float));  // [kSlab][kSide]

  float sum[kPart][kPart] = {};
  for (int head = r.head; head < r.head + r.heads; ++head)
    for (int at = r.begin; at < end; at += kSlab) {
      for (int i = thread; i < kSide * kSlab; i += kFmaThreads) {
        const int row = kQueries ? i / kSlab : i % kSide, column = kQueries ? i % kSlab : i / kSide;
        const bool there = first + row < r.rows && at + column < end && counts<kOf>(p, r, head, first + row, at + column);
        const int query = kQueries ? first + row : at + column, key = kQueries ? at + column : first + row;
        st(weights + column * kPitch + row, there ? ld(pairs.row(p, r.batch, head, query) + key) : 0.0f);
      }
      for (int i = thread; i < kSide * kSlab; i += kFmaThreads) {
        const int column = at + i / kSide, channel = first_channel + i % kSide;
        st(values + i, column < end && channel < p.dim ? ld(other.row(r.batch, kQueries ? r.kv : head, column) + channel) : 0.0f);
      }
      sync_block();
      for (int column = 0; column < kSlab && at + column < end; ++column) {
        const auto value = ld(reinterpret_cast<const Vec<float, kPart>*>(values + column * kSide + x));
        const auto weight = ld(reinterpret_cast<const Vec<float, kPart>*>(weights + column * kPitch + y));
#pragma unroll
        for (int i = 0; i < kPart; ++i) {
          // Note: a hidden pair is skipped, since its weight 0 times NaN would be NaN.
          if (weight[i] == 0 && (first + y + i >= r.rows || !counts<kOf>(p, r, head, first + y + i, at + column))) continue;
#pragma unroll
          for (int j = 0; j < kPart; ++j) sum[i][j] = fmaf(weight[i], value[j], sum[i][j]);
        }
      }
      sync_block();
    }
  const auto& out = kOf == Of::dq ? p.dq : kOf == Of::dk ? p.dk : p.dv;
#pragma unroll
  for (int i = 0; i < kPart; ++i)
#pragma unroll
    for (int j = 0; j < kPart; ++j)
      if (first + y + i < r.rows && first_channel + x + j < p.dim)
        st(out.row(r.batch, kQueries ? r.head : r.kv, first + y + i) + first_channel + x + j,
           kOf == Of::dv ? sum[i][j] : sum[i][j] * p.scale);
}

// Calls f(of, rows, heads, pairs) for every gradient.
template <class T, class F>
void for_gradients(const Problem<T>& p, const Pairs<T>& weights, const Pairs<T>& ds, F&& f) {
  f(std::integral_constant<Of, Of::dq>{}, p.queries, p.heads, ds);
  f(std::integral_constant<Of, Of::dk>{}, p.keys, p.heads / p.group, ds);
  f(std::integral_constant<Of, Of::dv>{}, p.keys, p.heads / p.group, weights);
}

bool aligned(std::initializer_list<const Tensor*> all) {
  return std::all_of(all.begin(), all.end(), [](const Tensor* t) { return t->rows_aligned(kAccess); });
}

template <class T>
void run_type(const attention_backward::Args& a, const Launch& l) {
  const Problem<T> p = problem<T>(a, l);
  char* const workspace = static_cast<char*>(l.workspace) + bytes_of_d(a);
  const Pairs<T> weights{reinterpret_cast<T*>(workspace), pitch(a)};
  const Pairs<T> ds{reinterpret_cast<T*>(workspace + bytes_of_pairs(a)), pitch(a)};
  const std::int64_t tiles_m = ceil_div(p.queries, kTile), tiles_n = ceil_div(p.keys, kTile);
  const std::int64_t all_heads = a.q.shape[0] * a.q.shape[2];
  run_row_dots(p, l);
  const auto run_pairs = [&](auto step, const Tensor& x, const Tensor& y) {
    constexpr Step kStep = decltype(step)::value;
    const bool wide = aligned({&x, &y});
    if (all_heads * tiles_m * tiles_n == 0) return;
    const dim3 grid(static_cast<unsigned>(all_heads * tiles_m * tiles_n));
    const Pairs<T>& out = kStep == Step::weights ? weights : ds;
    if constexpr (std::is_same_v<T, float>)
      launch(attention_backward_unfused_pairs_fma<kStep>,
             {.grid = grid, .block = dim3(fma_gemm::kThreads), .shared_bytes = fma_gemm::kSharedBytes}, l.stream, p, weights, out,
             tiles_m, tiles_n, wide);
    else
      launch(wide ? attention_backward_unfused_pairs_mma<kStep, T, true> : attention_backward_unfused_pairs_mma<kStep, T, false>,
             {.grid = grid, .block = dim3(mma_gemm::kThreads), .shared_bytes = mma_gemm::kSharedBytes}, l.stream, p, weights, out,
             tiles_m, tiles_n);
  };
  run_pairs(std::integral_constant<Step, Step::weights>{}, a.q, a.k);
  run_pairs(std::integral_constant<Step, Step::gradients>{}, a.d_o, a.v);

  for_gradients(p, weights, ds, [&](auto of, std::int64_t rows, std::int64_t heads, const Pairs<T>& pairs) {
    constexpr Of kOf = decltype(of)::value;
    if (rows * p.batches == 0) return;
    if constexpr (std::is_same_v<T, float>) {
      const std::int64_t tiles = ceil_div(rows, kSide), channel_tiles = ceil_div(p.dim, kSide);
      launch(attention_backward_unfused_sum_fma<kOf>,
             {.grid = dim3(static_cast<unsigned>(tiles * channel_tiles * heads * p.batches)),
              .block = dim3(kFmaThreads),
              .shared_bytes = (kSlab * (kSide + 4) + kSlab * kSide) * sizeof(float)},
             l.stream, p, pairs, tiles, channel_tiles);
    } else {
      const Tensor& out = kOf == Of::dq ? a.dq : kOf == Of::dk ? a.dk : a.dv;
      const bool wide = aligned({kOf == Of::dq ? &a.k : kOf == Of::dk ? &a.q : &a.d_o});
      with_dim(p.dim, [&]<int kDim>(std::integral_constant<int, kDim>) {
        constexpr int kColumns = kDim <= 128 ? 64 : 32, kStage = 64 * 64 * 2 + kColumns * Rows128<kDim>::kPitch * 2;
        const std::int64_t tiles = ceil_div(rows, kBlockRows);
        launch(attention_backward_unfused_sum_mma<T, kDim, kOf>,
               {.grid = dim3(static_cast<unsigned>(tiles * heads * p.batches)),
                .block = dim3(kThreads),
                .shared_bytes = 2 * kStage + 2 * sizeof(int)},
               l.stream, p, pairs, tiles, wide, aligned({&out}));
      });
    }
  });
}

void run(const attention_backward::Args& a, const Launch& l) {
  if (a.q.dtype == f32) return run_type<float>(a, l);
  if (a.q.dtype == bf16) return run_type<bfloat16>(a, l);
  throw std::invalid_argument("unfused takes bf16 and f32");
}

}  // namespace assay::ROOM(attention_backward, unfused)
