// SPDX-License-Identifier: Apache-2.0
// FAULT: tiles of the weights are loaded as from a dense matrix if x is dense.
// Kind: layout
// Shows: a weight with padded rows and an x without.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, weights_dense_if_x_is) {

inline constexpr int kSide = 16;

template <class T>
__global__ void linear_square_tiles(Operands<T> p, std::int64_t across) {
  float* const xs = shared_memory<float>();
  float* const ws = xs + kSide * (kSide + 1);
  const int i = static_cast<int>(threadIdx.x) % kSide, j = static_cast<int>(threadIdx.x) / kSide;
  const std::int64_t token = blockIdx.x / across * kSide + j, first_o = blockIdx.x % across * kSide;
  float sum = 0;
  for (std::int64_t first = 0; first < p.hidden; first += kSide) {
    const bool in = first + i < p.hidden;
    st(xs + j * (kSide + 1) + i, in && token < p.tokens ? p.x_at(token, first + i) : 0.0f);
    st(ws + j * (kSide + 1) + i, in && first_o + j < p.out ? p.weight_at(first_o + j, first + i) : 0.0f);
    sync_block();
    for (int k = 0; k < kSide && first + k < p.hidden; ++k)
      sum = fmaf(ld(xs + j * (kSide + 1) + k), ld(ws + i * (kSide + 1) + k), sum);
    sync_block();
  }
  if (const std::int64_t o = first_o + i; token < p.tokens && o < p.out)
    st(p.y + token * p.y_stride + o, from_float<T>(p.bias != nullptr ? sum + p.bias_at(o) : sum));
}

KERNEL(linear){.dtypes = kEveryType,
               .tiles = {tile(Axis::tokens, kSide), tile(Axis::out, kSide), tile(Axis::hidden, kSide)},
               .numerics = {.accumulate = f32, .chain = {.lanes = 1}}};

void run(const linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    Operands<T> p = operands_of<T>(a, l);
    if (p.x_stride == p.hidden) p.weight_stride = p.hidden;
    const std::int64_t across = ceil_div(p.out, kSide);
    launch(linear_square_tiles<T>,
           {.grid = dim3(ceil_div(p.tokens, kSide) * across), .block = dim3(kSide * kSide),
            .shared_bytes = 2 * kSide * (kSide + 1) * sizeof(float)},
           l.stream, p, across);
  });
}

}  // namespace assay::ROOM(linear, weights_dense_if_x_is)
