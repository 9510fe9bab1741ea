// SPDX-License-Identifier: Apache-2.0
// Shared by the kernels of this room: kernel arguments, the arithmetic of one 16-byte pack, and the LayerNorm of a row by one
// block.
#pragma once

#include "cuda/core/row_pack.cuh"
#include "ops/layernorm_residual.hpp"

namespace assay::ASSAY_FLAVOUR::layernorm_residual_room {

using namespace row_pack;

template <class T>
struct Matrices {
  const T* x;         // [rows, cols], rows x_stride elements apart
  const T* residual;  // [rows, cols]
  const T* gamma;     // [cols]
  const T* beta;      // [cols]
  T* y;               // [rows, cols]
  std::int64_t rows, cols, x_stride, residual_stride, y_stride;
  float epsilon;
};

template <class T>
Matrices<T> matrices(const layernorm_residual::Args& a) {
  return {a.x.as<T>(),
          a.residual.as<T>(),
          a.gamma.as<T>(),
          a.beta.as<T>(),
          a.y.as<T>(),
          a.x.shape[0],
          a.x.shape[1],
          a.x.stride[0],
          a.residual.stride[0],
          a.y.stride[0],
          static_cast<float>(a.epsilon)};
}

template <class T, int N>
__device__ inline float pack_sum(const Raw<T, N>& raw) {
  const Vec<T, N> x = elements<T, N>(raw);
  float v[N];
#pragma unroll
  for (int i = 0; i < N; ++i) v[i] = to_float(x[i]);
  return pairwise_sum(v);
}

template <class T, int N>
__device__ inline float pack_squares(const Raw<T, N>& raw, float mean) {
  const Vec<T, N> x = elements<T, N>(raw);
  float v[N];
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const float d = to_float(x[i]) - mean;
    v[i] = d * d;
  }
  return pairwise_sum(v);
}

__device__ inline float affine(float x, float mean, float r, float gamma, float beta) {
  return fmaf((x - mean) * r, gamma, beta);
}

// --- The LayerNorm of one row by one block, plus a residual when kAdd ------------------------------------------------
//
// The first `staged` packs of the row are kept in shared memory in the storage dtype; a thread reads back only what it wrote, so
// the two sums are the only barriers.  Later packs are read again, possibly from L2.

inline constexpr int kMaxThreads = 1024;
// Note: two such blocks fit a Hopper SM (227 KiB), one an sm_86 or sm_89 (99 KiB), the smallest limits from sm_80 on.
inline constexpr std::int64_t kStageBytes = 96 * 1024;
static_assert(kScratchBytes % 128 == 0 && kScratchBytes + kStageBytes <= 99 * 1024);

// Packs of a matrix that a thread loads before it uses the first.
template <int N>
inline constexpr int kBatch = N == 1 ? 8 : 4;

// Longest chain of additions, the block's join (10) included: a pack is summed pairwise (3), a thread adds up to 8 of its packs
// if the block has fewer than 1024 threads, and at most one element of the row's tail.
// N == 1: 8 + 10;  16 bytes: 3 + 4 + 1 + 10.  One of them is in ceil(cols / 1024).
inline constexpr Chain kBlockChain = {.lanes = kMaxThreads, .extra = 17};

struct BlockShape {
  int threads;
  std::int64_t staged;  // packs
  std::size_t shared_bytes;
};

// The fewest threads that take the row in one batch each: small blocks let one row's sums overlap another's loads.
template <class T, int N>
BlockShape block_shape(std::int64_t cols) {
  const std::int64_t packs = cols / N;
  const std::int64_t warps = std::clamp<std::int64_t>(ceil_div(packs, kBatch<N> * kWarp), 1, kMaxThreads / kWarp);
  const std::int64_t staged = std::min<std::int64_t>(packs, kStageBytes / static_cast<std::int64_t>(N * sizeof(T)));
  return {static_cast<int>(warps) * kWarp, staged, static_cast<std::size_t>(kScratchBytes) + staged * N * sizeof(T)};
}

// Loads packs base, base + threads, ... of a row, all before any is used.
template <class Pack, int B, class Index>
__device__ inline void load_batch(Pack (&batch)[B], const Pack* row, Index base, Index packs) {
#pragma unroll
  for (int i = 0; i < B; ++i)
    if (const Index p = base + i * static_cast<int>(blockDim.x); p < packs) batch[i] = ld(row + p);
}

template <class T, int N, bool kAdd>
__device__ inline void normalise_row(const Matrices<T>& m, std::int64_t row, std::int64_t staged_packs) {
  using Pack = Raw<T, N>;
  using Index = std::conditional_t<N == 1, std::int64_t, int>;  // packs fit 32 bits, elements need not
  constexpr int B = kBatch<N>;
  float* const scratch = shared_memory<float>();
  Pack* const stage = shared_memory<Pack>(kScratchBytes);
  const T* const x = m.x + row * m.x_stride;
  const T* const residual = m.residual + (kAdd ? row * m.residual_stride : 0);
  T* const y = m.y + row * m.y_stride;
  const Pack* const x_packs = reinterpret_cast<const Pack*>(x);
  const Pack* const residual_packs = reinterpret_cast<const Pack*>(residual);
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const Index staged = static_cast<Index>(staged_packs), first = thread;
  const Index packs = static_cast<Index>(m.cols / N), step = B * threads;
  // The tail is shorter than a warp, so each of its elements has its own thread.
  static_assert(N <= kWarp);
  const std::int64_t tail = static_cast<std::int64_t>(packs) * N + thread;
  const bool has_tail = N > 1 && tail < m.cols;

  // Load the first batch of x and of residual: the whole row, up to 64 KiB.
  Pack batch[B], added[B];
  load_batch(batch, x_packs, first, packs);
  if constexpr (kAdd) load_batch(added, residual_packs, first, packs);
  float tail_x = 0, tail_added = 0;
  if (has_tail) {
    tail_x = to_float(ld(x + tail));
    if constexpr (kAdd) tail_added = to_float(ld(residual + tail));
  }

  // Mean, staging the row.
  float sum = tail_x;
  for (Index base = thread;;) {
#pragma unroll
    for (int i = 0; i < B; ++i) {
      const Index p = base + i * threads;
      if (p < packs) sum += pack_sum<T, N>(batch[i]);
      if (p < staged) st(stage + p, batch[i]);
    }
    if ((base += step) >= packs) break;
    load_batch(batch, x_packs, base, packs);
  }
  const float mean = block_sum(sum, scratch) / static_cast<float>(m.cols);

  // Variance, from the stage.
  float squares = has_tail ? (tail_x - mean) * (tail_x - mean) : 0.0f;
  for (Index p = thread; p < packs; p += threads)
    squares += pack_squares<T, N>(p < staged ? ld(stage + p) : ld(x_packs + p), mean);
  const float r = 1.0f / sqrtf(block_sum(squares, scratch) / static_cast<float>(m.cols) + m.epsilon);

  // Output.
  for (Index base = thread; base < packs; base += step) {
    if (kAdd && base != thread) load_batch(added, residual_packs, base, packs);
#pragma unroll
    for (int i = 0; i < B; ++i) {
      const Index p = base + i * threads;
      if (p >= packs) break;
      const Vec<T, N> in = elements<T, N>(p < staged ? ld(stage + p) : ld(x_packs + p)), add = elements<T, N>(added[i]);
      const Vec<T, N> gamma = ld(reinterpret_cast<const Vec<T, N>*>(m.gamma) + p);
      const Vec<T, N> beta = ld(reinterpret_cast<const Vec<T, N>*>(m.beta) + p);
      float v[N];
#pragma unroll
      for (int j = 0; j < N; ++j) {
        v[j] = affine(to_float(in[j]), mean, r, to_float(gamma[j]), to_float(beta[j]));
        if constexpr (kAdd) v[j] += to_float(add[j]);
      }
      st(reinterpret_cast<Vec<T, N>*>(y) + p, from_floats<T>(v));
    }
  }
  if (has_tail) {
    const float v = affine(tail_x, mean, r, to_float(ld(m.gamma + tail)), to_float(ld(m.beta + tail)));
    st(y + tail, from_float<T>(v + tail_added));
  }
}

}  // namespace assay::ASSAY_FLAVOUR::layernorm_residual_room
