// SPDX-License-Identifier: Apache-2.0
// FAULT: in the last, partly filled tile of 48 channels x is padded with zeros, but its weights are those of the tile before.
// Kind: ranges
// Shows: a feature with an infinite weight more than one tile before the end, in hidden not a multiple of 48: NaN in place of
// infinity.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, stale_weights_times_zero) {

inline constexpr int kK = 48;

template <class T>
__global__ void linear_tiles_of_48(Operands<T> p) {
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x;
  if (o >= p.out) return;
  float x[kK], w[kK] = {}, sum = 0;
  for (std::int64_t first = 0; first < p.hidden; first += kK) {
#pragma unroll
    for (int i = 0; i < kK; ++i) {
      const bool there = first + i < p.hidden;
      x[i] = there ? p.x_at(token, first + i) : 0.0f;
      if (there) w[i] = p.weight_at(o, first + i);
    }
#pragma unroll
    for (int i = 0; i < kK; ++i) sum = fmaf(x[i], w[i], sum);
  }
  st(p.y + token * p.y_stride + o, from_float<T>(p.bias != nullptr ? sum + p.bias_at(o) : sum));
}

KERNEL(linear) = plain_traits<Plain>();

void run(const linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p = operands_of<T>(a, l);
    launch(linear_tiles_of_48<T>, {.grid = dim3(p.tokens, ceil_div(p.out, kPlainThreads)), .block = dim3(kPlainThreads)},
           l.stream, p);
  });
}

}  // namespace assay::ROOM(linear, stale_weights_times_zero)
