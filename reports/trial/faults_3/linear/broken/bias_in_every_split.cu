// SPDX-License-Identifier: Apache-2.0
// FAULT: hidden above 768 is split in two, each half begins with the bias, and the halves are added.
// Kind: combinations
// Shows: a bias together with hidden above 768.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, bias_in_every_split) {

inline constexpr std::int64_t kMostHidden = 768;

template <class T>
__global__ void linear_two_halves(Operands<T> p, std::int64_t splits) {
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x;
  if (o >= p.out) return;
  const std::int64_t share = ceil_div(p.hidden, splits);
  float all = 0;
  for (std::int64_t s = 0; s < splits; ++s) {
    float sum = 0;
    for (std::int64_t h = s * share; h < (s + 1) * share && h < p.hidden; ++h)
      sum = fmaf(p.x_at(token, h), p.weight_at(o, h), sum);
    all += p.bias != nullptr ? sum + p.bias_at(o) : sum;
  }
  st(p.y + token * p.y_stride + o, from_float<T>(all));
}

KERNEL(linear) = plain_traits<Plain>();

void run(const linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p = operands_of<T>(a, l);
    launch(linear_two_halves<T>, {.grid = dim3(p.tokens, ceil_div(p.out, kPlainThreads)), .block = dim3(kPlainThreads)},
           l.stream, p, p.hidden > kMostHidden ? 2 : 1);
  });
}

}  // namespace assay::ROOM(linear, bias_in_every_split)
