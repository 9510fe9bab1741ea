// SPDX-License-Identifier: Apache-2.0
// The main loop of a matrix product in f32 arithmetic: a 128 x 128 tile of C = A B^T, A [m, k] and B [n, k], both with k
// innermost, of any element type.  A thread keeps 8 x 8 of C in registers.  Tiles of 16 channels pass through shared memory as
// floats, transposed, so that a thread reads its 8 rows by two 16-byte accesses.  The next tile is loaded to registers meanwhile.
// Every element of C is one chain of fused multiply-adds over k, in order.
#pragma once

#include "cuda/core/kernel.cuh"

namespace assay::ASSAY_FLAVOUR::fma_gemm {

inline constexpr int kM = 128, kN = 128, kK = 16, kThreads = 256;
inline constexpr int kSide = 8, kHalf = kSide / 2;  // rows and columns of C a thread: 4, and 4 more 64 further on
inline constexpr int kPitch = 128 + 4;              // floats from one channel's row of a tile to the next
inline constexpr int kPart = kK / 2;                // channels of a tile's row that one thread moves
inline constexpr std::size_t kSharedBytes = 2 * 2 * kK * kPitch * sizeof(float);

template <class T>
struct Operand {
  const T* data;
  std::int64_t stride, rows;
  bool wide;  // rows start at multiples of 16 bytes
};
template <class T>
Operand<T> operand(const Tensor& t) {
  return {t.as<T>(), t.stride[0], t.shape[0], t.rows_aligned(16)};
}

struct Accumulators {
  float c[kSide][kSide];
};
// Row or column `i` of a thread's part, relative to the tile.
__device__ inline int place(int thread, int i) { return thread * kHalf + i % kHalf + i / kHalf * 64; }
__device__ inline int row_of(int i) { return place(linear_thread() / 16, i); }
__device__ inline int column_of(int j) { return place(linear_thread() % 16, j); }

// Loads kPart channels of row `row` from k on, with zeros beyond the ends.
template <class T>
__device__ inline void load_part(const Operand<T>& m, std::int64_t row, std::int64_t k, std::int64_t inner, float (&v)[kPart]) {
  constexpr int N = 16 / sizeof(T);
  const T* const p = m.data + row * m.stride + k;
  if (row < m.rows && m.wide && k + kPart <= inner) {
#pragma unroll
    for (int i = 0; i < kPart; i += N) {
      const Vec<T, N> pack = ld(reinterpret_cast<const Vec<T, N>*>(p + i));
#pragma unroll
      for (int j = 0; j < N; ++j) v[i + j] = to_float(pack[j]);
    }
  } else {
#pragma unroll
    for (int i = 0; i < kPart; ++i) v[i] = row < m.rows && k + i < inner ? to_float(ld(p + i)) : 0.0f;
  }
}

struct NoScale {
  __device__ void operator()(float (&)[kPart], std::int64_t) const {}
};

// Computes the tile of C that starts at row `row` of A and row `column` of B.  `scale_b(v, k)` may change v, the loaded channels
// k, k + 1, ... of a row of B.
template <class T, class ScaleB = NoScale>
__device__ inline void multiply(const Operand<T>& a, const Operand<T>& b, std::int64_t row, std::int64_t column,
                                std::int64_t inner, Accumulators& acc, ScaleB&& scale_b = {}) {
  float* const shared = shared_memory<float>();
  const int mine = linear_thread() / 2, part = linear_thread() % 2 * kPart;
  float next_a[kPart], next_b[kPart];
  const auto fetch = [&](std::int64_t k) {
    load_part(a, row + mine, k + part, inner, next_a);
    load_part(b, column + mine, k + part, inner, next_b);
    scale_b(next_b, k + part);
  };
  const auto put = [&](float* tile) {
#pragma unroll
    for (int i = 0; i < kPart; ++i) {
      st(tile + (part + i) * kPitch + mine, next_a[i]);
      st(tile + (kK + part + i) * kPitch + mine, next_b[i]);
    }
  };
#pragma unroll
  for (int i = 0; i < kSide; ++i)
#pragma unroll
    for (int j = 0; j < kSide; ++j) acc.c[i][j] = 0;

  fetch(0);
  put(shared);
  sync_block();
  int buffer = 0;
  for (std::int64_t k = 0; k < inner; k += kK, buffer ^= 1) {
    const float* const tile = shared + buffer * 2 * kK * kPitch;
    if (k + kK < inner) fetch(k + kK);
#pragma unroll
    for (int kk = 0; kk < kK; ++kk) {
      float x[kSide], y[kSide];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const auto va = ld(reinterpret_cast<const Vec<float, kHalf>*>(tile + kk * kPitch + row_of(half * kHalf)));
        const auto vb = ld(reinterpret_cast<const Vec<float, kHalf>*>(tile + (kK + kk) * kPitch + column_of(half * kHalf)));
#pragma unroll
        for (int i = 0; i < kHalf; ++i) {
          x[half * kHalf + i] = va[i];
          y[half * kHalf + i] = vb[i];
        }
      }
#pragma unroll
      for (int i = 0; i < kSide; ++i)
#pragma unroll
        for (int j = 0; j < kSide; ++j) acc.c[i][j] = fmaf(x[i], y[j], acc.c[i][j]);
    }
    if (k + kK < inner) put(shared + (buffer ^ 1) * 2 * kK * kPitch);
    sync_block();
  }
}

// Calls use(row, column, value) for every element that this thread holds, relative to the tile.
template <class Use>
__device__ inline void for_each(const Accumulators& acc, Use&& use) {
#pragma unroll
  for (int i = 0; i < kSide; ++i)
#pragma unroll
    for (int j = 0; j < kSide; ++j) use(row_of(i), column_of(j), acc.c[i][j]);
}

}  // namespace assay::ASSAY_FLAVOUR::fma_gemm
