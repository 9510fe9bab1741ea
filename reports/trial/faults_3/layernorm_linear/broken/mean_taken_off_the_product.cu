// SPDX-License-Identifier: Apache-2.0
// FAULT: the product is taken of x gamma w, and the mean times the sum of gamma w is subtracted from it, which cancels for
// large means.
// Kind: precision
// Shows: tokens whose mean is large beside their deviation.
#include "cuda/layernorm_linear/broken/plain.cuh"

namespace assay::ROOM(layernorm_linear, mean_taken_off_the_product) {

template <class T>
__global__ void layernorm_linear_after(Plain<T> p) {
  const std::int64_t token = blockIdx.x / p.blocks_across;
  const std::int64_t o = blockIdx.x % p.blocks_across * kPlainOut + threadIdx.x;
  if (o >= p.out) return;
  const float mean = p.mean(token), r = p.inverse(token, mean);
  float product = 0, gain = 0, shift = 0;
  for (std::int64_t h = 0; h < p.hidden; ++h) {
    const float w = p.factor(o, h), scaled = p.scale(h) * w;
    product = fmaf(p.at(token, h), scaled, product);
    gain += scaled;
    shift = fmaf(p.offset(h), w, shift);
  }
  const float v = fmaf(r, fmaf(-mean, gain, product), shift);
  st(p.y + token * p.y_stride + o, from_float<T>(p.bias != nullptr ? v + to_float(ld(p.bias + o)) : v));
}

KERNEL(layernorm_linear) = plain_traits<Formula>();

void run(const layernorm_linear::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], out = a.y.shape[1], across = ceil_div(out, kPlainOut);
  if (tokens == 0 || out == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Plain<T> p{a.x.as<T>(),   a.gamma.as<T>(), a.beta.as<T>(),     a.weight.as<T>(), a.bias.as<T>(),
                     a.y.as<T>(),   tokens,          a.x.shape[1],       out,              a.x.stride[0],
                     a.weight.stride[0], a.y.stride[0], across, static_cast<float>(a.epsilon)};
    launch(layernorm_linear_after<T>, {.grid = dim3(tokens * across), .block = dim3(kPlainOut)}, l.stream, p);
  });
}

}  // namespace assay::ROOM(layernorm_linear, mean_taken_off_the_product)
