// SPDX-License-Identifier: Apache-2.0
// A token a block of four warps, for up to 8192 channels: x r gamma as floats in shared memory, then an output a warp, four at a
// time.  1 / root by rsqrtf, within two units of the last place: 4 units of 2^-24, 3 of them the root's.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/rmsnorm_gemm.hpp"

namespace assay::ROOM(rmsnorm_gemm, token_in_shared_memory) {

inline constexpr int kWarps = 4, kThreads = kWarps * kWarp;
inline constexpr std::int64_t kMostHidden = 8192;

Legality supports(const rmsnorm_gemm::Args& a) {
  return a.x.shape[1] > kMostHidden ? Legality::no("a token has more than 8192 channels") : Legality::yes();
}
// The squares in 128 lanes and 5 + 2 additions, the products in 32 lanes and 5 additions: the latter chain is the longer one, but
// for at most 32 channels, where the former may have two more.
KERNEL(rmsnorm_gemm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::out, kWarps), tile(Axis::hidden, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5 + 2}, .root_error = 3},
    .supports = supports,
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    rmsnorm_gemm_token_in_shared_memory(const T* x, const T* gamma, const T* weight, T* y, int hidden, std::int64_t out,
                                        std::int64_t x_stride, std::int64_t weight_stride, std::int64_t y_stride, float epsilon) {
  float* const partial = shared_memory<float>();
  float* const norm = partial + kWarp;
  const std::int64_t token = blockIdx.x;
  x += token * x_stride, y += token * y_stride;
  float squares = 0;
  for (int h = static_cast<int>(threadIdx.x); h < hidden; h += kThreads) {
    const float v = to_float(ld(x + h));
    squares = fmaf(v, v, squares);
  }
  const float r = rsqrtf(block_sum(squares, partial) / static_cast<float>(hidden) + epsilon);
  for (int h = static_cast<int>(threadIdx.x); h < hidden; h += kThreads)
    st(norm + h, to_float(ld(x + h)) * r * to_float(ld(gamma + h)));
  sync_block();
  for (std::int64_t o = warp_id(); o < out; o += kWarps) {
    float sum = 0;
    for (int h = lane_id(); h < hidden; h += kWarp) sum = fmaf(ld(norm + h), to_float(ld(weight + o * weight_stride + h)), sum);
    sum = warp_sum(sum);
    if (lane_id() == 0) st(y + o, from_float<T>(sum));
  }
}

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rmsnorm_gemm_token_in_shared_memory<T>,
           {.grid = dim3(a.x.shape[0]),
            .block = dim3(kThreads),
            .shared_bytes = static_cast<std::size_t>(kWarp + a.x.shape[1]) * sizeof(float)},
           l.stream, a.x.as<T>(), a.gamma.as<T>(), a.weight.as<T>(), a.y.as<T>(), static_cast<int>(a.x.shape[1]), a.y.shape[1],
           a.x.stride[0], a.weight.stride[0], a.y.stride[0], static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(rmsnorm_gemm, token_in_shared_memory)
