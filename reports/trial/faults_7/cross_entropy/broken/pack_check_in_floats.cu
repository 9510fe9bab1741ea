// SPDX-License-Identifier: Apache-2.0
// FAULT: The check of the row stride asks for a multiple of four elements, which is 16 bytes in f32 alone. Rows of f16 and bf16
// at odd multiples of 8 bytes are loaded at misaligned addresses.
// Kind: layout
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/cross_entropy.hpp"

namespace assay::ROOM(cross_entropy, pack_check_in_floats) {

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void entropy_warp(const T* x, const std::int32_t* target, float* loss, std::int64_t vocab, std::int64_t stride, bool wide) {
  constexpr int N = 16 / sizeof(T);
  using Pack = Vec<T, N>;
  x += blockIdx.x * stride;
  const std::int64_t packs = wide ? vocab / N : 0;
  const auto each = [&](auto&& f) {
    for (std::int64_t p = lane_id(); p < packs; p += kWarp) {
      const Pack v = ld(reinterpret_cast<const Pack*>(x) + p);
      for (int j = 0; j < N; ++j) f(to_float(v[j]));
    }
    for (std::int64_t c = packs * N + lane_id(); c < vocab; c += kWarp) f(to_float(ld(x + c)));
  };
  float max = -INFINITY, sum = 0;
  each([&](float v) { max = fmaxf(max, v); });
  max = warp_max(max);
  each([&](float v) { sum += expf(v - max); });
  sum = warp_sum(sum);
  if (lane_id() == 0) st(loss + blockIdx.x, logf(sum) + (max - to_float(ld(x + ld(target + blockIdx.x)))));
}

__global__ void entropy_mean(const float* loss, float* mean, std::int64_t tokens) {
  float sum = 0;
  for (std::int64_t t = 0; t < tokens; ++t) sum += ld(loss + t);
  st(mean, sum / static_cast<float>(tokens));
}

void run(const cross_entropy::Args& a, const Launch& l) {
  const bool wide = reinterpret_cast<std::uintptr_t>(a.x.data) % 16 == 0 && (a.x.shape[0] == 1 || a.x.stride[0] % 4 == 0);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(entropy_warp<T>, {.grid = dim3(a.x.shape[0]), .block = dim3(kWarp)}, l.stream, a.x.as<T>(), a.target.as<std::int32_t>(),
           a.loss.as<float>(), a.x.shape[1], a.x.stride[0], wide);
  });
  launch(entropy_mean, {.grid = dim3(1), .block = dim3(1)}, l.stream, a.loss.as<float>(), a.mean.as<float>(), a.x.shape[0]);
}

}  // namespace assay::ROOM(cross_entropy, pack_check_in_floats)
