// SPDX-License-Identifier: Apache-2.0
// A row a block; a bf16 becomes a float by a shift of its bits, and a float a bf16 by an integer addition that rounds to even.
#include "cuda/core/kernel.cuh"
#include "ops/add.hpp"

namespace assay::ROOM(add, bfloat_by_bits) {

inline constexpr int kThreads = 64;

KERNEL(add){.dtypes = {bf16, f32},
            .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
            .numerics = {.accumulate = f32}};

__device__ inline float widened(float v) { return v; }
__device__ inline float widened(bfloat16 v) {
  return __builtin_bit_cast(float, static_cast<unsigned>(__builtin_bit_cast(unsigned short, v)) << 16);
}
template <class T>
__device__ inline T narrowed(float v) {
  if constexpr (std::is_same_v<T, float>) {
    return v;
  } else {
    const unsigned bits = __builtin_bit_cast(unsigned, v);
    const unsigned rounded = v != v ? bits >> 16 | 0x40u : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    return __builtin_bit_cast(bfloat16, static_cast<unsigned short>(rounded));
  }
}

template <class T>
__global__ void add_bfloat_by_bits(const T* a, const T* b, T* y, std::int64_t cols, std::int64_t a_stride, std::int64_t b_stride,
                                   std::int64_t y_stride) {
  const std::int64_t row = blockIdx.x;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads)
    st(y + row * y_stride + c, narrowed<T>(widened(ld(a + row * a_stride + c)) + widened(ld(b + row * b_stride + c))));
}

template <class T>
void go(const add::Args& a, const Launch& l) {
  launch(add_bfloat_by_bits<T>, {.grid = dim3(a.y.shape[0]), .block = dim3(kThreads)}, l.stream, a.a.as<T>(), a.b.as<T>(),
         a.y.as<T>(), a.y.shape[1], a.a.stride[0], a.b.stride[0], a.y.stride[0]);
}
void run(const add::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  a.y.dtype == bf16 ? go<bfloat16>(a, l) : go<float>(a, l);
}

}  // namespace assay::ROOM(add, bfloat_by_bits)
