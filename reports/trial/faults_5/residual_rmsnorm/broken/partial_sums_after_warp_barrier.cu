// SPDX-License-Identifier: Apache-2.0
// FAULT: the partial sums of the warps are read after a barrier of the warp, not of the block.
// KIND: concurrency
// Right on: residual_rmsnorm f16 rows=64 cols=512 fill=normal seed=1
// Wrong on: residual_rmsnorm f16 rows=8 cols=4096 fill=normal seed=1
#include <type_traits>
#include "cuda/core/device.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/residual_rmsnorm.hpp"

namespace assay::ROOM(residual_rmsnorm, partial_sums_after_warp_barrier) {

// Adds by a butterfly, 5 additions deep.
__device__ inline float warp_sum(float v) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) v += shuffle_xor(v, offset);
  return v;
}

// Adds in two levels, 10 additions deep: each warp its own values, then every warp the warps' sums.  `partial` is shared memory
// for kWarp floats and may be reused at once.  All threads of the block, at most 1024, must call it.
__device__ inline float block_sum(float v, float* partial) {
  const int warps = static_cast<int>(blockDim.x * blockDim.y * blockDim.z + kWarp - 1) / kWarp;
  v = warp_sum(v);
  if (lane_id() == 0) st(partial + warp_id(), v);
  sync_warp();
  return warp_sum(lane_id() < warps ? ld(partial + lane_id()) : 0.0f);
}

// The maximum by fmaxf: NaN is ignored unless all are NaN.
__device__ inline float warp_max(float v) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) v = fmaxf(v, shuffle_xor(v, offset));
  return v;
}

// `partial` as in block_sum.
__device__ inline float block_max(float v, float* partial) {
  const int warps = static_cast<int>(blockDim.x * blockDim.y * blockDim.z + kWarp - 1) / kWarp;
  v = warp_max(v);
  if (lane_id() == 0) st(partial + warp_id(), v);
  sync_block();
  v = warp_max(lane_id() < warps ? ld(partial + lane_id()) : -INFINITY);
  sync_block();
  return v;
}

namespace row_pack {

inline constexpr int kAccess = 16;  // bytes of the widest access
template <class T>
inline constexpr int kPerAccess = kAccess / static_cast<int>(sizeof(T));

// N unconverted elements.  Note: they are words, since the compiler gives each 16-bit element of a Vec<T, N> its own register.
template <class T, int N>
using Raw = std::conditional_t<N == 1, Vec<T, 1>, Vec<unsigned, N * sizeof(T) / sizeof(unsigned)>>;

template <class T, int N>
__device__ inline Vec<T, N> elements(const Raw<T, N>& raw) {
  return __builtin_bit_cast(Vec<T, N>, raw);
}

// Makes the compiler convert raw words anew in the next pass.  Note: it would keep every element as a float between passes, in
// twice the registers.  `nothing`: a zero that the compiler cannot know to be one.  An XOR a word is cheaper than a spill.
template <class Words>
__device__ inline void forget(Words& words, unsigned nothing) {
#pragma unroll
  for (unsigned& word : words.v) word ^= nothing;
}

// The sum of N values, pairwise: log2(N) additions deep.
template <int N>
__device__ inline float pairwise_sum(float (&v)[N]) {
#pragma unroll
  for (int half = N / 2; half > 0; half /= 2)
#pragma unroll
    for (int i = 0; i < half; ++i) v[i] += v[i + half];
  return v[0];
}

// The column of this thread's element after the last whole pack, or a column >= cols.  These elements are fewer than a warp.
template <int N>
__device__ inline std::int64_t tail_column(std::int64_t cols, int thread) {
  static_assert(N <= kWarp);
  return N > 1 ? cols / N * N + thread : cols;
}

// The threads that share a row.
struct Warp {
  __device__ int thread() const { return lane_id(); }
  __device__ int threads() const { return kWarp; }
  __device__ float max(float v) const { return warp_max(v); }
  __device__ float sum(float v) const { return warp_sum(v); }
};
struct Block {
  float* scratch;  // shared memory for kWarp floats
  __device__ int thread() const { return static_cast<int>(threadIdx.x); }
  __device__ int threads() const { return static_cast<int>(blockDim.x); }
  __device__ float max(float v) const { return block_max(v, scratch); }
  __device__ float sum(float v) const { return block_sum(v, scratch); }
};
inline constexpr std::size_t kScratchBytes = kWarp * sizeof(float);

}  // namespace row_pack

namespace row_norm {

using namespace row_pack;

// The arguments of an op.  Which of them an op has selects the formula: beta makes it a LayerNorm, s adds the residual before the
// norm, residual without s adds it after.  Without gamma the row is normalised and not scaled.
template <class T, class Args>
struct Matrices {
  static constexpr bool kScales = requires(const Args& a) { a.gamma; };
  static constexpr bool kCentres = requires(const Args& a) { a.beta; };
  static constexpr bool kAddsBefore = requires(const Args& a) { a.s; };
  static constexpr bool kAddsAfter = requires(const Args& a) { a.residual; }
  &&!kAddsBefore;
  using Element = T;
  const T* x;         // [rows, cols], rows x_stride elements apart
  const T* residual;  // [rows, cols], or null
  const T* gamma;     // [cols], or null
  const T* beta;      // [cols], or null
  T* s;               // [rows, cols], or null
  T* y;               // [rows, cols]
  std::int64_t rows, cols, x_stride, residual_stride, s_stride, y_stride;
  float epsilon;
};

template <class T, class Args>
Matrices<T, Args> matrices(const Args& a) {
  using M = Matrices<T, Args>;
  M m{.x = a.x.template as<T>(),
      .residual = nullptr,
      .gamma = nullptr,
      .beta = nullptr,
      .s = nullptr,
      .y = a.y.template as<T>(),
      .rows = a.x.shape[0],
      .cols = a.x.shape[1],
      .x_stride = a.x.stride[0],
      .residual_stride = 0,
      .s_stride = 0,
      .y_stride = a.y.stride[0],
      .epsilon = static_cast<float>(a.epsilon)};
  if constexpr (M::kScales) m.gamma = a.gamma.template as<T>();
  if constexpr (M::kCentres) m.beta = a.beta.template as<T>();
  if constexpr (requires { a.residual; }) m.residual = a.residual.template as<T>(), m.residual_stride = a.residual.stride[0];
  if constexpr (M::kAddsBefore) m.s = a.s.template as<T>(), m.s_stride = a.s.stride[0];
  return m;
}

// Whether every row starts at a multiple of 16 bytes; its length does not matter.
template <class Args>
bool wide(const Args& a) {
  bool all = a.x.rows_aligned(kAccess) && a.y.rows_aligned(kAccess);
  if constexpr (requires { a.gamma; }) all = all && a.gamma.rows_aligned(kAccess);
  if constexpr (requires { a.beta; }) all = all && a.beta.rows_aligned(kAccess);
  if constexpr (requires { a.residual; }) all = all && a.residual.rows_aligned(kAccess);
  if constexpr (requires { a.s; }) all = all && a.s.rows_aligned(kAccess);
  return all;
}

// --- One pack ---------------------------------------------------------------------------------------------------------

template <class T>
__device__ inline float added(float x, float residual) {
  return to_float(from_float<T>(x + residual));
}

template <class T, int N>
__device__ inline Raw<T, N> added(const Raw<T, N>& x, const Raw<T, N>& residual) {
  const Vec<T, N> a = elements<T, N>(x), b = elements<T, N>(residual);
  float v[N];
#pragma unroll
  for (int j = 0; j < N; ++j) v[j] = to_float(a[j]) + to_float(b[j]);
  return __builtin_bit_cast(Raw<T, N>, from_floats<T>(v));
}

template <class T, int N>
__device__ inline float pack_sum(const Raw<T, N>& raw) {
  const Vec<T, N> x = elements<T, N>(raw);
  float v[N];
#pragma unroll
  for (int j = 0; j < N; ++j) v[j] = to_float(x[j]);
  return pairwise_sum(v);
}

template <class T, int N>
__device__ inline float pack_squares(const Raw<T, N>& raw, float mean) {
  const Vec<T, N> x = elements<T, N>(raw);
  float v[N];
#pragma unroll
  for (int j = 0; j < N; ++j) {
    const float d = to_float(x[j]) - mean;
    v[j] = d * d;
  }
  return pairwise_sum(v);
}

// The statistics of a row: its mean, or 0 if the op does not centre, and the inverse deviation.
struct Statistics {
  float mean, r;
};

template <class M>
__device__ inline float normalised(float x, const Statistics& by, float gamma, float beta) {
  if constexpr (M::kCentres) return fmaf((x - by.mean) * by.r, gamma, beta);
  else if constexpr (M::kScales) return x * by.r * gamma;
  else return x * by.r;
}

// Pack p of y; `residual` is used where it is added after the norm.
template <int N, class M, class T = typename M::Element>
__device__ inline void store_normalised(const M& m, T* y, std::int64_t p, const Raw<T, N>& raw, const Raw<T, N>& residual,
                                        const Statistics& by) {
  const Vec<T, N> x = elements<T, N>(raw), add = elements<T, N>(residual);
  Vec<T, N> gamma{}, beta{};
  if constexpr (M::kScales) gamma = ld(reinterpret_cast<const Vec<T, N>*>(m.gamma) + p);
  if constexpr (M::kCentres) beta = ld(reinterpret_cast<const Vec<T, N>*>(m.beta) + p);
  float v[N];
#pragma unroll
  for (int j = 0; j < N; ++j) {
    v[j] = normalised<M>(to_float(x[j]), by, to_float(gamma[j]), to_float(beta[j]));
    if constexpr (M::kAddsAfter) v[j] += to_float(add[j]);
  }
  st(reinterpret_cast<Vec<T, N>*>(y) + p, from_floats<T>(v));
}

// Stores one element of y after the last whole pack.
template <class M, class T = typename M::Element>
__device__ inline void store_tail(const M& m, T* y, std::int64_t col, float x, float residual, const Statistics& by) {
  float gamma = 0, beta = 0;
  if constexpr (M::kScales) gamma = to_float(ld(m.gamma + col));
  if constexpr (M::kCentres) beta = to_float(ld(m.beta + col));
  const float v = normalised<M>(x, by, gamma, beta);
  st(y + col, from_float<T>(M::kAddsAfter ? v + residual : v));
}

template <class M, class Group>
__device__ inline float inverse_deviation(const M& m, float squares, const Group& group) {
  return 1.0f / sqrtf(group.sum(squares) / static_cast<float>(m.cols) + m.epsilon);
}

// --- A row ------------------------------------------------------------------------------------------------------------
//
// A pack has N elements and is one access, so x, residual, s, gamma, beta and y must lie at multiples of N elements.  A thread
// takes packs `threads` apart, and at most one of the elements after the last whole pack.

// Keeps a row in registers, at most P packs a thread.  Longest chain of additions: log2(N) + P, the tail, the group.
template <int N, int P, class M, class Group>
__device__ inline void held(const M& m, std::int64_t row, const Group& group) {
  using T = typename M::Element;
  using Pack = Raw<T, N>;
  // Note: of 16 packs, all of x and half of residual are in flight at once; all of both would spill.
  constexpr int kAhead = P <= 8 ? P : P / 2;
  const int thread = group.thread(), threads = group.threads(), packs = static_cast<int>(m.cols / N);
  const std::int64_t tail = tail_column<N>(m.cols, thread);
  const bool has_tail = tail < m.cols;
  const auto load = [&](const T* from, int i) {
    Pack pack{};
    if (const int p = i * threads + thread; p < packs) pack = ld(reinterpret_cast<const Pack*>(from) + p);
    return pack;
  };

  // Load the row.
  const T* const x = m.x + row * m.x_stride;
  Pack v[P];
#pragma unroll
  for (int i = 0; i < P; ++i) v[i] = load(x, i);
  float extra = has_tail ? to_float(ld(x + tail)) : 0.0f;
  const T* const residual = m.residual + row * m.residual_stride;
  Pack ahead[kAhead];
  float extra_residual = 0;
  if constexpr (M::kAddsBefore || M::kAddsAfter) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) ahead[i] = load(residual, i);
    if (has_tail) extra_residual = to_float(ld(residual + tail));
  }
  if constexpr (M::kAddsBefore) {
    T* const s = m.s + row * m.s_stride;
    if (has_tail) {
      extra = added<T>(extra, extra_residual);
      st(s + tail, from_float<T>(extra));
    }
    // A pack of residual that has been used makes room for the one kAhead after it.
#pragma unroll
    for (int i = 0; i < P; ++i) {
      v[i] = added<T, N>(v[i], ahead[i % kAhead]);
      if (i + kAhead < P) ahead[i % kAhead] = load(residual, i + kAhead);
      if (const int p = i * threads + thread; p < packs) st(reinterpret_cast<Pack*>(s) + p, v[i]);
    }
  }
  const auto forget_all = [&] {
    if constexpr (N > 1 && sizeof(T) < sizeof(float)) {
      const unsigned nothing = shuffle(0u, 0);
#pragma unroll
      for (int i = 0; i < P; ++i) forget(v[i], nothing);
    }
  };

  // Statistics; what is not inside the row is zero.
  Statistics by{};
  if constexpr (M::kCentres) {
    float sum = extra;
#pragma unroll
    for (int i = 0; i < P; ++i) sum += pack_sum<T, N>(v[i]);
    by.mean = group.sum(sum) / static_cast<float>(m.cols);
    forget_all();
  }
  float squares = has_tail ? (extra - by.mean) * (extra - by.mean) : 0.0f;
#pragma unroll
  for (int i = 0; i < P; ++i)
    if (!M::kCentres || i * threads + thread < packs) squares += pack_squares<T, N>(v[i], by.mean);
  by.r = inverse_deviation(m, squares, group);
  forget_all();

  // Output.
  T* const y = m.y + row * m.y_stride;
#pragma unroll
  for (int i = 0; i < P; ++i) {
    const Pack add = M::kAddsAfter ? ahead[i % kAhead] : Pack{};
    if (M::kAddsAfter && i + kAhead < P) ahead[i % kAhead] = load(residual, i + kAhead);
    if (const int p = i * threads + thread; p < packs) store_normalised<N>(m, y, p, v[i], add, by);
  }
  if (has_tail) store_tail(m, y, tail, extra, extra_residual, by);
}

// Calls f(pack, number) for packs first, first + threads, ... of a row.  It loads P of them before the first is used.
template <int N, int P, class T, class F>
__device__ inline void each_pack(const T* from, std::int64_t first, std::int64_t packs, int threads, F f) {
  using Pack = Raw<T, N>;
  for (std::int64_t base = first; base < packs; base += std::int64_t{P} * threads) {
    Pack v[P];
#pragma unroll
    for (int i = 0; i < P; ++i)
      if (const std::int64_t p = base + i * threads; p < packs) v[i] = ld(reinterpret_cast<const Pack*>(from) + p);
#pragma unroll
    for (int i = 0; i < P; ++i)
      if (const std::int64_t p = base + i * threads; p < packs) f(v[i], p);
  }
}

// Computes a row of any length.  A thread reads back only those elements of s that it wrote itself.
template <int N, int P, class M, class Group>
__device__ inline void read_again(const M& m, std::int64_t row, const Group& group) {
  using T = typename M::Element;
  using Pack = Raw<T, N>;
  const int thread = group.thread(), threads = group.threads();
  const std::int64_t packs = m.cols / N, tail = tail_column<N>(m.cols, thread);
  const bool has_tail = tail < m.cols;
  const T* x = m.x + row * m.x_stride;
  float extra = has_tail ? to_float(ld(x + tail)) : 0.0f, extra_residual = 0;
  const T* const residual = m.residual + row * m.residual_stride;
  if ((M::kAddsBefore || M::kAddsAfter) && has_tail) extra_residual = to_float(ld(residual + tail));

  // s.
  if constexpr (M::kAddsBefore) {
    T* const s = m.s + row * m.s_stride;
    each_pack<N, P>(x, thread, packs, threads, [&](const Pack& pack, std::int64_t p) {
      st(reinterpret_cast<Pack*>(s) + p, added<T, N>(pack, ld(reinterpret_cast<const Pack*>(residual) + p)));
    });
    if (has_tail) {
      extra = added<T>(extra, extra_residual);
      st(s + tail, from_float<T>(extra));
    }
    x = s;
  }

  // Statistics.
  Statistics by{};
  if constexpr (M::kCentres) {
    float sum = extra;
    each_pack<N, P>(x, thread, packs, threads, [&](const Pack& pack, std::int64_t) { sum += pack_sum<T, N>(pack); });
    by.mean = group.sum(sum) / static_cast<float>(m.cols);
  }
  float squares = has_tail ? (extra - by.mean) * (extra - by.mean) : 0.0f;
  each_pack<N, P>(x, thread, packs, threads,
                  [&](const Pack& pack, std::int64_t) { squares += pack_squares<T, N>(pack, by.mean); });
  by.r = inverse_deviation(m, squares, group);

  // Output.
  T* const y = m.y + row * m.y_stride;
  each_pack<N, P>(x, thread, packs, threads, [&](const Pack& pack, std::int64_t p) {
    store_normalised<N>(m, y, p, pack, M::kAddsAfter ? ld(reinterpret_cast<const Pack*>(residual) + p) : Pack{}, by);
  });
  if (has_tail) store_tail(m, y, tail, extra, extra_residual, by);
}

// --- A row by a block -------------------------------------------------------------------------------------------------
//
// A block has as few threads as hold the row, since with small blocks the sums of one row overlap the loads of another.

// Note: element by element a thread has four times the addresses, which do not fit 64 registers beside the elements.
template <int N>
inline constexpr int kMostThreads = N == 1 ? 512 : 1024;
template <int N>
inline constexpr int kBlockPacks = N == 1 ? 16 : 4;  // of a thread
template <int N>
inline constexpr std::int64_t kMostHeld = std::int64_t{N} * kBlockPacks<N>* kMostThreads<N>;  // columns
template <int N>
int threads_for(std::int64_t cols) {
  const std::int64_t warps = ceil_div(cols, N * kBlockPacks<N> * kWarp);
  return kWarp * static_cast<int>(std::clamp<std::int64_t>(warps, 1, kMostThreads<N> / kWarp));
}
// The longest chain of additions.  held() makes 16 element by element, or 3 + 4 and the tail in packs, and 10 in the block.
// read_again() adds ceil(cols / 512) elements a thread, or 3 and fewer packs than that, and 10 in the block.
inline constexpr Chain kBlockChain = {.lanes = kMostThreads<1>, .extra = 15 + 10};

template <int N, bool kHeld, class M>
__device__ inline void by_block(const M& m, std::int64_t row) {
  const Block block{shared_memory<float>()};
  if constexpr (kHeld) held<N, kBlockPacks<N>>(m, row, block);
  else read_again<N, kBlockPacks<N>>(m, row, block);
}

// Launches one of two kernels of by_block: the one that holds its rows, if they fit.
template <int N, class M>
void launch_blocks(void (*holds)(M), void (*reads_again)(M), const M& m, void* stream) {
  launch(m.cols <= kMostHeld<N> ? holds : reads_again,
         {.grid = dim3(m.rows), .block = dim3(threads_for<N>(m.cols)), .shared_bytes = kScratchBytes}, stream, m);
}

// --- A row by a warp --------------------------------------------------------------------------------------------------

inline constexpr int kWarpRows = 4;  // warps, and rows, a block
inline constexpr std::int64_t kMostWideBytes = 16 * kWarp * kAccess, kMostNarrowCols = 32 * kWarp;

template <class Args>
Legality fits_warp(const Args& a) {
  const std::int64_t cols = a.x.shape[1];
  if (cols * size_of(a.x.dtype) > kMostWideBytes) return Legality::no("a row exceeds 8 KiB, what a warp keeps in registers");
  if (!wide(a) && cols > kMostNarrowCols)
    return Legality::no("beyond 1024 columns every row must start at a multiple of 16 bytes");
  return Legality::yes();
}
// A lane adds each pack of 4 or 8 pairwise and the packs one after the other, of which a warp's cover at least 128 columns; then
// come the tail (1) and the butterfly (5).  Element by element a lane adds at most 32.
inline constexpr Chain kWarpChain = {.lanes = 4 * kWarp, .extra = 24 + 5};

// Calls f with integral constants N and P, the least compiled P that holds the row.
template <class T, class Args, class F>
void with_warp_packs(const Args& a, F f) {
  const auto go = [&]<int N, int P>() { f(std::integral_constant<int, N>{}, std::integral_constant<int, P>{}); };
  constexpr int N = kPerAccess<T>;
  const std::int64_t cols = a.x.shape[1], packs = ceil_div(cols, N * kWarp);
  if (!wide(a)) return cols <= 8 * kWarp ? go.template operator()<1, 8>() : go.template operator()<1, 32>();
  if (packs <= 1) return go.template operator()<N, 1>();
  if (packs <= 4) return go.template operator()<N, 4>();
  return go.template operator()<N, 16>();
}

}  // namespace row_norm

using namespace row_norm;

KERNEL(residual_rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile_bytes(Axis::cols, kWarp* kAccess)},  // columns: what one warp takes at once
    .numerics = {.accumulate = f32, .chain = kBlockChain},
    .supports = residual_rmsnorm::rounded_alone,
};

template <class T, int N, bool kHeld>
__global__ void __launch_bounds__(kMostThreads<N>)
    residual_rmsnorm_partial_sums_after_warp_barrier(Matrices<T, residual_rmsnorm::Args> m) {
  by_block<N, kHeld>(m, blockIdx.x);
}

template <class T, int N>
void run_width(const residual_rmsnorm::Args& a, const Launch& l) {
  launch_blocks<N>(residual_rmsnorm_partial_sums_after_warp_barrier<T, N, true>,
                   residual_rmsnorm_partial_sums_after_warp_barrier<T, N, false>, matrices<T>(a), l.stream);
}

void run(const residual_rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) { wide(a) ? run_width<T, kPerAccess<T>>(a, l) : run_width<T, 1>(a, l); });
}

}  // namespace assay::ROOM(residual_rmsnorm, partial_sums_after_warp_barrier)
