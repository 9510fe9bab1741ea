// SPDX-License-Identifier: Apache-2.0
// FAULT: the outputs after the last whole four are made by a separate loop that adds the bias after GELU.
// Kind: combinations
// Shows: a bias and a number of outputs that four does not divide.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, bias_after_gelu_in_tail) {

inline constexpr int kEach = 4;

template <class T>
__global__ void gelu_linear_fours(Operands<T> p) {
  const std::int64_t token = blockIdx.x, first = (static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x) * kEach;
  if (first >= p.out) return;
  const auto activated = [&](float z) { return p.erf_form ? gelu_erf(z) : gelu_tanh(z); };
  if (first + kEach <= p.out) {
    float sum[kEach] = {};
    for (std::int64_t h = 0; h < p.hidden; ++h) {
      const float x = p.x_at(token, h);
#pragma unroll
      for (int j = 0; j < kEach; ++j) sum[j] = fmaf(x, p.weight_at(first + j, h), sum[j]);
    }
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const float z = p.bias != nullptr ? sum[j] + p.bias_at(first + j) : sum[j];
      st(p.y + token * p.y_stride + first + j, from_float<T>(activated(z)));
    }
    return;
  }
  for (std::int64_t o = first; o < p.out; ++o) {
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h) sum = fmaf(p.x_at(token, h), p.weight_at(o, h), sum);
    const float v = activated(sum);
    st(p.y + token * p.y_stride + o, from_float<T>(p.bias != nullptr ? v + p.bias_at(o) : v));
  }
}

KERNEL(gelu_linear) = plain_traits<Plain>();

void run(const gelu_linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p{a.x.as<T>(), a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(), a.y.shape[0], a.x.shape[1], a.y.shape[1],
                        a.x.stride[0], a.weight.stride[0], a.y.stride[0], a.form == Activation::gelu_erf};
    launch(gelu_linear_fours<T>,
           {.grid = dim3(p.tokens, ceil_div(p.out, kPlainThreads * kEach)), .block = dim3(kPlainThreads)}, l.stream, p);
  });
}

}  // namespace assay::ROOM(gelu_linear, bias_after_gelu_in_tail)
