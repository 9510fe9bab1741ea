// SPDX-License-Identifier: Apache-2.0
// A token a warp: mean and deviation once, each in 32 lanes, then output after output, the norm made anew for each.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/layernorm_linear.hpp"

namespace assay::ROOM(layernorm_linear, token_a_warp) {

inline constexpr int kWarps = 2;

KERNEL(layernorm_linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kWarps), tile(Axis::hidden, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5}},
};

template <class T>
struct Problem {
  const T *x, *gamma, *beta, *weight, *bias;
  T* y;
  std::int64_t tokens, hidden, out, x_stride, weight_stride, y_stride;
  float epsilon;
};

template <class T>
__global__ void layernorm_linear_token_a_warp(Problem<T> p) {
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (token >= p.tokens) return;
  const T* const x = p.x + token * p.x_stride;
  const float width = static_cast<float>(p.hidden);
  float sum = 0, squares = 0;
  for (std::int64_t h = lane_id(); h < p.hidden; h += kWarp) sum += to_float(ld(x + h));
  const float mean = warp_sum(sum) / width;
  for (std::int64_t h = lane_id(); h < p.hidden; h += kWarp) {
    const float d = to_float(ld(x + h)) - mean;
    squares = fmaf(d, d, squares);
  }
  const float r = 1.0f / sqrtf(warp_sum(squares) / width + p.epsilon);
  for (std::int64_t o = 0; o < p.out; ++o) {
    float all = 0;
    for (std::int64_t h = lane_id(); h < p.hidden; h += kWarp) {
      const float norm = fmaf((to_float(ld(x + h)) - mean) * r, to_float(ld(p.gamma + h)), to_float(ld(p.beta + h)));
      all = fmaf(norm, to_float(ld(p.weight + o * p.weight_stride + h)), all);
    }
    all = warp_sum(all);
    if (lane_id() == 0)
      st(p.y + token * p.y_stride + o, from_float<T>(p.bias != nullptr ? all + to_float(ld(p.bias + o)) : all));
  }
}

void run(const layernorm_linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p{a.x.as<T>(), a.gamma.as<T>(), a.beta.as<T>(), a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(),
                       a.y.shape[0], a.x.shape[1], a.y.shape[1], a.x.stride[0], a.weight.stride[0], a.y.stride[0],
                       static_cast<float>(a.epsilon)};
    launch(layernorm_linear_token_a_warp<T>, {.grid = dim3(ceil_div(p.tokens, kWarps)), .block = dim3(kWarps * kWarp)}, l.stream,
           p);
  });
}

}  // namespace assay::ROOM(layernorm_linear, token_a_warp)
