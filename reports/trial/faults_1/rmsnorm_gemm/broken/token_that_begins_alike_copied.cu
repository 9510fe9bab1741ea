// SPDX-License-Identifier: Apache-2.0
// FAULT: a token whose first four channels are those of the first token takes that one's scale and row, without a look at its
// other channels.
// Kind: cheats
// Shows: two tokens that begin alike and differ later, such as rows that begin with zeros.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, token_that_begins_alike_copied) {

template <class T>
__global__ void rmsnorm_gemm_alike(Operands<T> p) {
  const std::int64_t o = static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
  std::int64_t token = blockIdx.x;
  if (o >= p.out) return;
  T* const y = p.y + token * p.y_stride + o;
  bool alike = p.hidden > 4;
  for (std::int64_t h = 0; alike && h < 4; ++h) alike = p.x_at(token, h) == p.x_at(0, h);
  if (alike) token = 0;
  const float r = Plain<T>::template scale<Plain<T>>(p, token);
  float sum = 0;
  for (std::int64_t h = 0; h < p.hidden; ++h) sum = fmaf(p.x_at(token, h) * r * p.gamma_at(h), p.weight_at(o, h), sum);
  st(y, from_float<T>(sum));
}

KERNEL(rmsnorm_gemm) = plain_traits<Plain>();

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p{a.x.as<T>(),   a.gamma.as<T>(), a.weight.as<T>(),   a.y.as<T>(),   a.y.shape[0],
                        a.x.shape[1],  a.y.shape[1],    a.x.stride[0],      a.weight.stride[0], a.y.stride[0],
                        static_cast<float>(a.epsilon)};
    launch(rmsnorm_gemm_alike<T>, {.grid = dim3(p.tokens, ceil_div(p.out, kPlainThreads)), .block = dim3(kPlainThreads)},
           l.stream, p);
  });
}

}  // namespace assay::ROOM(rmsnorm_gemm, token_that_begins_alike_copied)
