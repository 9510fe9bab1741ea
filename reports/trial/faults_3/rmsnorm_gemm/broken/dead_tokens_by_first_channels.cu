// SPDX-License-Identifier: Apache-2.0
// FAULT: a token whose first 16 channels are zero is taken for padding, and its outputs are zero.
// Kind: cheats
// Shows: tokens that begin with 16 zeros and are not zero, or where a weight is infinite.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, dead_tokens_by_first_channels) {

template <class T>
__global__ void rmsnorm_gemm_padding(Operands<T> p) {
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x;
  if (o >= p.out) return;
  bool dead = p.hidden >= 16;
  for (int h = 0; h < 16 && dead; ++h) dead = p.x_at(token, h) == 0;
  float sum = 0;
  if (!dead) {
    const float r = Plain<T>::template scale<Plain<T>>(p, token);
    for (std::int64_t h = 0; h < p.hidden; ++h) sum = fmaf(p.x_at(token, h) * r * p.gamma_at(h), p.weight_at(o, h), sum);
  }
  st(p.y + token * p.y_stride + o, from_float<T>(sum));
}

KERNEL(rmsnorm_gemm) = plain_traits<Plain>();

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p{a.x.as<T>(),   a.gamma.as<T>(), a.weight.as<T>(),   a.y.as<T>(),      a.y.shape[0],
                        a.x.shape[1],  a.y.shape[1],    a.x.stride[0],      a.weight.stride[0], a.y.stride[0],
                        static_cast<float>(a.epsilon)};
    launch(rmsnorm_gemm_padding<T>, {.grid = dim3(p.tokens, ceil_div(p.out, kPlainThreads)), .block = dim3(kPlainThreads)},
           l.stream, p);
  });
}

}  // namespace assay::ROOM(rmsnorm_gemm, dead_tokens_by_first_channels)
