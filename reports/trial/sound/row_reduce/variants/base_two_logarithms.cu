// SPDX-License-Identifier: Apache-2.0
// A row a block of two warps; logsumexp in base two, an exponent by one FMA, x log2(e) - (max log2(e)), as declared.  From
// |max| = 2048 on the difference is taken first, since the rounding of max log2(e) is an exponent.
#include "cuda/core/fold.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, base_two_logarithms) {

inline constexpr int kThreads = 64;

// 64 lanes; five additions in a warp, one to join the two warps.
KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 5 + 1}, .fused_exponent = true},
};

template <class F>
__device__ inline float joined(float v, F f) {
  float* const of_warps = shared_memory<float>();
  for (int offset = kWarp / 2; offset > 0; offset /= 2) v = f(v, shuffle_xor(v, offset));
  if (lane_id() == 0) st(of_warps + warp_id(), v);
  sync_block();
  v = f(ld(of_warps), ld(of_warps + 1));
  sync_block();
  return v;
}
__device__ inline float joined_sum(float v) {
  return joined(v, [](float a, float b) { return a + b; });
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    row_reduce_base_two_logarithms(const T* x, float* y, std::int64_t cols, std::int64_t stride, Reduction what) {
  constexpr float kLog2E = 1.4426950408889634f, kLn2 = 0.6931471805599453f;
  x += blockIdx.x * stride;
  float result = 0;
  if (what == Reduction::sum || what == Reduction::sum_of_squares) {
    float sum = 0;
    for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) {
      const float v = to_float(ld(x + c));
      sum = what == Reduction::sum ? sum + v : fmaf(v, v, sum);
    }
    result = joined_sum(sum);
  } else {
    float max = -INFINITY;
    for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) max = fold::larger(max, to_float(ld(x + c)));
    max = joined(max, [](float a, float b) { return fold::larger(a, b); });
    result = max;
    if (what == Reduction::logsumexp && fabsf(max) < INFINITY) {
      const bool fused = fabsf(max) < 2048.0f;
      const float base = max * kLog2E;
      float sum = 0;
      for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) {
        const float v = to_float(ld(x + c));
        sum += exp2f(fused ? fmaf(v, kLog2E, -base) : (v - max) * kLog2E);
      }
      result = max + kLn2 * log2f(joined_sum(sum));
    }
  }
  if (threadIdx.x == 0) st(y + blockIdx.x, result);
}

void run(const row_reduce::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(row_reduce_base_two_logarithms<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = 2 * sizeof(float)}, l.stream, a.x.as<T>(),
           a.y.as<float>(), a.x.shape[1], a.x.stride[0], a.what);
  });
}

}  // namespace assay::ROOM(row_reduce, base_two_logarithms)
