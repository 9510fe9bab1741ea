// SPDX-License-Identifier: Apache-2.0
// FAULT: x gamma is staged in shared memory in tiles of 256 channels, and a tile is replaced without a barrier after its use.
// Kind: concurrency
// Shows: hidden > 256.
#include "cuda/core/reduce.cuh"
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, gamma_tile_replaced_early) {

inline constexpr int kTile = 256;

template <class T>
__global__ void staged(Operands<T> p) {
  float* const scratch = shared_memory<float>();
  float* const tile = scratch + kWarp;
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x;
  float squares = 0, sum = 0;
  for (std::int64_t h = threadIdx.x; h < p.hidden; h += kPlainThreads) squares = fmaf(p.x_at(token, h), p.x_at(token, h), squares);
  const float r = 1.0f / sqrtf(block_sum(squares, scratch) / static_cast<float>(p.hidden) + p.epsilon);
  for (std::int64_t first = 0; first < p.hidden; first += kTile) {
    const std::int64_t count = p.hidden - first < kTile ? p.hidden - first : kTile;
    for (std::int64_t h = threadIdx.x; h < count; h += kPlainThreads)
      st(tile + h, p.x_at(token, first + h) * r * p.gamma_at(first + h));
    sync_block();
    if (o < p.out)
      for (std::int64_t h = 0; h < count; ++h) sum = fmaf(ld(tile + h), p.weight_at(o, first + h), sum);
  }
  if (o < p.out) st(p.y + token * p.y_stride + o, from_float<T>(sum));
}

KERNEL(rmsnorm_gemm) = {.dtypes = kEveryType,
                        .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads), tile(Axis::hidden, kTile)},
                        .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 10}}};

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p{a.x.as<T>(),   a.gamma.as<T>(), a.weight.as<T>(),   a.y.as<T>(),   a.y.shape[0], a.x.shape[1],
                        a.y.shape[1],  a.x.stride[0],   a.weight.stride[0], a.y.stride[0], static_cast<float>(a.epsilon)};
    launch(staged<T>,
           {.grid = dim3(p.tokens, ceil_div(p.out, kPlainThreads)),
            .block = dim3(kPlainThreads),
            .shared_bytes = (kWarp + kTile) * sizeof(float)},
           l.stream, p);
  });
}

}  // namespace assay::ROOM(rmsnorm_gemm, gamma_tile_replaced_early)
