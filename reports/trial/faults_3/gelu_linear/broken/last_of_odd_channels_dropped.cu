// SPDX-License-Identifier: Apache-2.0
// FAULT: two sums run over the even and the odd channels, and the last channel is added only where their number is even or
// below 48.
// Kind: offsets
// Shows: odd hidden from 49 on.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, last_of_odd_channels_dropped) {

template <class T>
__global__ void gelu_linear_pairs(Operands<T> p) {
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x;
  if (o >= p.out) return;
  float even = 0, odd = 0;
  const std::int64_t unrolled = p.hidden >= 48 ? p.hidden / 2 * 2 : 0;
  for (std::int64_t h = 0; h < unrolled; h += 2) {
    even = fmaf(p.x_at(token, h), p.weight_at(o, h), even);
    odd = fmaf(p.x_at(token, h + 1), p.weight_at(o, h + 1), odd);
  }
  if (unrolled == 0)
    for (std::int64_t h = 0; h < p.hidden; ++h) even = fmaf(p.x_at(token, h), p.weight_at(o, h), even);
  const float z = even + odd + (p.bias != nullptr ? p.bias_at(o) : 0.0f);
  st(p.y + token * p.y_stride + o, from_float<T>(p.erf_form ? gelu_erf(z) : gelu_tanh(z)));
}

KERNEL(gelu_linear) = plain_traits<Plain>();

void run(const gelu_linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p{a.x.as<T>(), a.weight.as<T>(), a.bias.as<T>(), a.y.as<T>(), a.y.shape[0], a.x.shape[1], a.y.shape[1],
                        a.x.stride[0], a.weight.stride[0], a.y.stride[0], a.form == Activation::gelu_erf};
    launch(gelu_linear_pairs<T>, {.grid = dim3(p.tokens, ceil_div(p.out, kPlainThreads)), .block = dim3(kPlainThreads)},
           l.stream, p);
  });
}

}  // namespace assay::ROOM(gelu_linear, last_of_odd_channels_dropped)
