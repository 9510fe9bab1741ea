// SPDX-License-Identifier: Apache-2.0
// Shared by kernels over the rows of a matrix: 16-byte packs of unconverted elements, and the warp or block that takes a row.
#pragma once

#include <type_traits>

#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"

namespace assay::ASSAY_FLAVOUR::row_pack {

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

// The elements as floats.  Note: an element of bf16 is the upper half of its float, which one instruction makes of a word; an
// element by itself takes two, since it is first moved to a register of its own.
template <class T, int N>
__device__ inline void to_floats(float (&v)[N], const Raw<T, N>& raw) {
  if constexpr (std::is_same_v<T, bfloat16> && N > 1) {
#pragma unroll
    for (int i = 0; i < N / 2; ++i) {
      v[2 * i] = __builtin_bit_cast(float, raw[i] << 16);
      v[2 * i + 1] = __builtin_bit_cast(float, raw[i] & 0xffff0000u);
    }
  } else {
    const Vec<T, N> in = elements<T, N>(raw);
#pragma unroll
    for (int j = 0; j < N; ++j) v[j] = to_float(in[j]);
  }
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

}  // namespace assay::ASSAY_FLAVOUR::row_pack
