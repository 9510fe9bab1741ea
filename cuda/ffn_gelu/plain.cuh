// SPDX-License-Identifier: Apache-2.0
// A product with one thread per output and a serial FMA chain, for any layout and element types.
#pragma once

#include "cuda/core/kernel.cuh"
#include "ops/ffn_gelu.hpp"

namespace assay::ASSAY_FLAVOUR::ffn_gelu_room {

inline constexpr int kPlainOut = 32, kPlainTokens = 4;

struct Shape {
  std::int64_t tokens, out, inner, x_stride, w_stride, y_stride, blocks_across;
};

// y [tokens, out] = f(x w^T, bias or zero, whether there is a bias) of x [tokens, inner], w [out, inner].
template <class X, class T, class Y, class F>
__global__ void ffn_gelu_plain(const X* x, const T* w, const T* bias, Y* y, Shape s, F f) {
  const std::int64_t token = blockIdx.x / s.blocks_across * kPlainTokens + threadIdx.y;
  const std::int64_t o = blockIdx.x % s.blocks_across * kPlainOut + threadIdx.x;
  if (token >= s.tokens || o >= s.out) return;
  x += token * s.x_stride;
  w += o * s.w_stride;
  float sum = 0;
  for (std::int64_t i = 0; i < s.inner; ++i) sum = fmaf(to_float(ld(x + i)), to_float(ld(w + i)), sum);
  st(y + token * s.y_stride + o, from_float<Y>(f(sum, bias != nullptr ? to_float(ld(bias + o)) : 0.0f)));
}

// Workspace of h [tokens, ffn] in f32.
inline std::size_t plain_workspace(const ffn_gelu::Args& a) {
  return static_cast<std::size_t>(a.x.shape[0] * a.w1.shape[0]) * sizeof(float);
}
struct AddBias {
  __device__ float operator()(float sum, float bias) const { return sum + bias; }
};
// h = f(x w1^T, b1) for the first `units` units, then y = g(h w2^T, b2).
template <class T, class F, class G = AddBias>
void run_plain(const ffn_gelu::Args& a, const Launch& l, std::int64_t units, F f, G g = {}) {
  const std::int64_t tokens = a.x.shape[0], hidden = a.x.shape[1], ffn = a.w1.shape[0];
  if (tokens == 0) return;
  float* const h = static_cast<float*>(l.workspace);
  const Shape first{tokens, ffn, hidden, a.x.stride[0], a.w1.stride[0], ffn, ceil_div(ffn, kPlainOut)};
  const Shape second{tokens, hidden, units, ffn, a.w2.stride[0], a.y.stride[0], ceil_div(hidden, kPlainOut)};
  const auto grid = [&](const Shape& s) { return dim3(ceil_div(tokens, kPlainTokens) * s.blocks_across); };
  const dim3 block(kPlainOut, kPlainTokens);
  launch(ffn_gelu_plain<T, T, float, F>, {.grid = grid(first), .block = block}, l.stream, a.x.as<T>(), a.w1.as<T>(), a.b1.as<T>(),
         h, first, f);
  launch(ffn_gelu_plain<float, T, T, G>, {.grid = grid(second), .block = block}, l.stream, h, a.w2.as<T>(), a.b2.as<T>(),
         a.y.as<T>(), second, g);
}

}  // namespace assay::ASSAY_FLAVOUR::ffn_gelu_room
