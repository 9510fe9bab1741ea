// SPDX-License-Identifier: Apache-2.0
// One thread per output, any layout: shared by the naive kernel and the broken ones.
#pragma once

#include "cuda/core/kernel.cuh"
#include "ops/layernorm_linear.hpp"

namespace assay::ASSAY_FLAVOUR::layernorm_linear_room {

inline constexpr int kPlainOut = 32, kPlainTokens = 4;

template <class T>
struct Plain {
  const T *x, *gamma, *beta, *weight, *bias;
  T* y;
  std::int64_t tokens, hidden, out, x_stride, weight_stride, y_stride, blocks_across;
  float epsilon;

  __device__ float at(std::int64_t token, std::int64_t h) const { return to_float(ld(x + token * x_stride + h)); }
  __device__ float scale(std::int64_t h) const { return to_float(ld(gamma + h)); }
  __device__ float offset(std::int64_t h) const { return to_float(ld(beta + h)); }
  __device__ float factor(std::int64_t o, std::int64_t h) const { return to_float(ld(weight + o * weight_stride + h)); }

  __device__ float mean(std::int64_t token) const {
    float sum = 0;
    for (std::int64_t h = 0; h < hidden; ++h) sum += at(token, h);
    return sum / static_cast<float>(hidden);
  }
  // 1 / deviation.
  __device__ float inverse(std::int64_t token, float mean) const {
    float squares = 0;
    for (std::int64_t h = 0; h < hidden; ++h) squares = fmaf(at(token, h) - mean, at(token, h) - mean, squares);
    return 1.0f / sqrtf(squares / static_cast<float>(hidden) + epsilon);
  }
};

// y = f(problem, token, o) + bias.
template <class T, class F>
__global__ void layernorm_linear_plain(Plain<T> p, F f) {
  const std::int64_t token = blockIdx.x / p.blocks_across * kPlainTokens + threadIdx.y;
  const std::int64_t o = blockIdx.x % p.blocks_across * kPlainOut + threadIdx.x;
  if (token >= p.tokens || o >= p.out) return;
  const float v = f(p, token, o);
  st(p.y + token * p.y_stride + o, from_float<T>(p.bias != nullptr ? v + to_float(ld(p.bias + o)) : v));
}

template <class T, class F>
void run_plain(const layernorm_linear::Args& a, const Launch& l, F f) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], across = ceil_div(out, kPlainOut);
  if (tokens == 0 || out == 0) return;
  const Plain<T> p{a.x.as<T>(),
                   a.gamma.as<T>(),
                   a.beta.as<T>(),
                   a.weight.as<T>(),
                   a.bias.as<T>(),
                   a.y.as<T>(),
                   tokens,
                   a.x.shape[1],
                   out,
                   a.x.stride[0],
                   a.weight.stride[0],
                   a.y.stride[0],
                   across,
                   static_cast<float>(a.epsilon)};
  launch(layernorm_linear_plain<T, F>,
         {.grid = dim3(ceil_div(tokens, kPlainTokens) * across), .block = dim3(kPlainOut, kPlainTokens)}, l.stream, p, f);
}

}  // namespace assay::ASSAY_FLAVOUR::layernorm_linear_room
