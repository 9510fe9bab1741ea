// SPDX-License-Identifier: Apache-2.0
// FAULT: 256 channels of a token at a time lie in shared memory, with a barrier after they come and none before the next: right
// up to 256.
// Kind: memory
// Caught by: the bound, with tokens=3 hidden=1025 out=5 (f16).
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, tile_overwritten_while_read) {

constexpr int kTile = 256;  // channels

KERNEL(linear) = plain_traits<Plain>();

template <class T>
__global__ void linear_tiles(Operands<T> p) {
  float* const x = shared_memory<float>();
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x;
  float sum = 0;
  for (std::int64_t first = 0; first < p.hidden; first += kTile) {
    for (int i = static_cast<int>(threadIdx.x); i < kTile && first + i < p.hidden; i += kPlainThreads)
      st(x + i, p.x_at(token, first + i));
    sync_block();
    for (int i = 0; i < kTile && first + i < p.hidden && o < p.out; ++i) sum = fmaf(ld(x + i), p.weight_at(o, first + i), sum);
  }
  if (o < p.out) st(p.y + token * p.y_stride + o, from_float<T>(Plain<T>::add_bias(p, sum, o)));
}

void run(const linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p = operands_of<T>(a, l);
    launch(linear_tiles<T>,
           {.grid = Plain<T>::grid(p, kPlainThreads), .block = dim3(kPlainThreads), .shared_bytes = kTile * sizeof(float)},
           l.stream, p);
  });
}

}  // namespace assay::ROOM(linear, tile_overwritten_while_read)
