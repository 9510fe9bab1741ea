// SPDX-License-Identifier: Apache-2.0
// LayerNorm and RMSNorm of one row by a warp or a block, with the addition of a residual where the op has one: before the norm
// if the op also has s = x + residual (rounded to the dtype, stored, and normalised as stored), else after it.  A row that fits
// stays in registers in the storage dtype: each byte of x, residual, s and y is moved once.  A longer row is read again for each
// pass, from L2 if it is still there.
#pragma once

#include "cuda/core/row_pack.cuh"

namespace assay::ASSAY_FLAVOUR::row_norm {

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
  if constexpr (requires { a.residual; }) {
    m.residual = a.residual.template as<T>();
    m.residual_stride = a.residual.stride[0];
  }
  if constexpr (M::kAddsBefore) {
    m.s = a.s.template as<T>();
    m.s_stride = a.s.stride[0];
  }
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
  float v[N], add[N];
  to_floats<T, N>(v, x);
  to_floats<T, N>(add, residual);
#pragma unroll
  for (int j = 0; j < N; ++j) v[j] += add[j];
  return __builtin_bit_cast(Raw<T, N>, from_floats<T>(v));
}

template <class T, int N>
__device__ inline float pack_sum(const Raw<T, N>& raw) {
  float v[N];
  to_floats<T, N>(v, raw);
  return pairwise_sum(v);
}

template <class T, int N>
__device__ inline float pack_squares(const Raw<T, N>& raw, float mean) {
  float v[N];
  to_floats<T, N>(v, raw);
#pragma unroll
  for (int j = 0; j < N; ++j) v[j] = (v[j] - mean) * (v[j] - mean);
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
  using Pack = Raw<T, N>;
  float v[N], add[N]{}, gamma[N]{}, beta[N]{};
  to_floats<T, N>(v, raw);
  if constexpr (M::kAddsAfter) to_floats<T, N>(add, residual);
  if constexpr (M::kScales) to_floats<T, N>(gamma, ld(reinterpret_cast<const Pack*>(m.gamma) + p));
  if constexpr (M::kCentres) to_floats<T, N>(beta, ld(reinterpret_cast<const Pack*>(m.beta) + p));
#pragma unroll
  for (int j = 0; j < N; ++j) {
    v[j] = normalised<M>(v[j], by, gamma[j], beta[j]);
    if constexpr (M::kAddsAfter) v[j] += add[j];
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

inline constexpr int kFewRows = 256;  // about as many blocks as begin at once, two on each multiprocessor

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

  // Of few rows none finds gamma and beta in L2, and each would wait for them after its sums.  No launch before writes them.
  if ((M::kScales || M::kCentres) && m.rows <= kFewRows) {
#pragma unroll
    for (int i = 0; i < P; ++i)
      if (const int p = i * threads + thread; p < packs) {
        if constexpr (M::kScales) prefetch(reinterpret_cast<const Pack*>(m.gamma) + p);
        if constexpr (M::kCentres) prefetch(reinterpret_cast<const Pack*>(m.beta) + p);
      }
  }
  wait_for_previous_grid();

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
  wait_for_previous_grid();
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
void launch_blocks(void (*holds)(M), void (*reads_again)(M), const M& m, void* stream, bool after = false) {
  launch(m.cols <= kMostHeld<N> ? holds : reads_again,
         {.grid = dim3(m.rows), .block = dim3(threads_for<N>(m.cols)), .shared_bytes = kScratchBytes, .dependent = after}, stream,
         m);
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

}  // namespace assay::ASSAY_FLAVOUR::row_norm
