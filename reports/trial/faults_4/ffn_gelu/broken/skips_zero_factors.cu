// SPDX-License-Identifier: Apache-2.0
// FAULT: skips terms whose left factor is zero, a common trick for sparse activations. Visible where the weight beside the
// zero is inf or NaN: the output stays finite instead of becoming NaN.
// KIND: ranges
#include "cuda/core/kernel.cuh"
#include "ops/ffn_gelu.hpp"

namespace assay::ROOM(ffn_gelu, skips_zero_factors) {

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
  x += token * s.x_stride, w += o * s.w_stride;
  float sum = 0;
  for (std::int64_t i = 0; i < s.inner; ++i) {
    const float v = to_float(ld(x + i));
    if (v != 0.0f) sum = fmaf(v, to_float(ld(w + i)), sum);
  }
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
  launch(ffn_gelu_plain<T, T, float, F>, {.grid = grid(first), .block = block}, l.stream, a.x.as<T>(), a.w1.as<T>(),
         a.b1.as<T>(), h, first, f);
  launch(ffn_gelu_plain<float, T, T, G>, {.grid = grid(second), .block = block}, l.stream, h, a.w2.as<T>(), a.b2.as<T>(),
         a.y.as<T>(), second, g);
}

KERNEL(ffn_gelu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kPlainTokens), tile(Axis::hidden, kPlainOut), tile(Axis::ffn, kPlainOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .cancelling_gelu = true},
    .workspace_bytes = plain_workspace,
};

struct Gelu {
  Activation form;
  __device__ float operator()(float sum, float bias) const {
    const float z = sum + bias;
    if (form == Activation::gelu_erf) return 0.5f * z * (1.0f + erff(z * 0.7071067811865476f));
    const float u = z * fmaf(0.035677408136300125f, z * z, 0.7978845608028654f);  // sqrt(2/pi) (z + 0.044715 z^3)
    return 0.5f * z * (1.0f + tanhf(u));
  }
};

void run(const ffn_gelu::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) { run_plain<T>(a, l, a.w1.shape[0], Gelu{a.form}); });
}

}  // namespace assay::ROOM(ffn_gelu, skips_zero_factors)
