// SPDX-License-Identifier: Apache-2.0
// One block per four tokens, or per token if there are few: all threads compute the angles of its tokens once, in shared memory, for
// all heads, while 16-byte packs of q and k are in flight.  Narrower packs if pairs, head size or alignment require it.  Angles in
// f64, reduced mod 2 pi, then f32.
#include "cuda/rope/packs.cuh"

namespace assay::ROOM(rope, vector16) {

inline constexpr int kThreads = 256, kBatch = 2, kManyTokens = 1024;

// A thread processes two 16-byte packs at a time.
KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile_bytes(Axis::head_dim, 32)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .reduced_angle_error = kReducedAngleError},
};

template <class T, int N>
__global__ void __launch_bounds__(kThreads) rope_vector16(Problem<T> p, int tokens_of_block) {
  next_grid_may_start();
  const std::int64_t first = blockIdx.x * static_cast<std::int64_t>(tokens_of_block);
  const int count = static_cast<int>(p.tokens - first < tokens_of_block ? p.tokens - first : tokens_of_block);
  Rotation* const turns = shared_memory<Rotation>();  // [tokens_of_block, half]
  const int thread = static_cast<int>(threadIdx.x), packs = p.half / N, all = p.heads() * packs;

  // Load the first batch.
  PairPacks<T, N> v[kBatch];
  const auto load = [&](std::int64_t token, int base) {
#pragma unroll
    for (int b = 0; b < kBatch; ++b)
      if (const int item = base + b * kThreads; item < all) v[b].load(p, p.row(token, item / packs).x, item % packs);
  };
  load(first, thread);

  // Compute the angles of the tokens.
  for (int i = thread; i < count * p.half; i += kThreads)
    st(turns + i, rotation_by(p.angle(i % p.half, p.position(first + i / p.half))));
  sync_block();

  for (int t = 0; t < count; ++t) {
    const std::int64_t token = first + t;
    for (int base = thread; base < all; base += kBatch * kThreads) {
      if (t > 0 || base != thread) load(token, base);
#pragma unroll
      for (int b = 0; b < kBatch; ++b)
        if (const int item = base + b * kThreads; item < all) {
          const Rotation* const mine = turns + t * p.half + item % packs * N;
          v[b].rotate_and_store(p, p.row(token, item / packs).y, item % packs, [&](int j) { return ld(mine + j); });
        }
    }

    // Copy the channels that are not rotated; in place there is nothing to do.
    const int rest = (p.dim - p.rotary) / N;
    for (int item = thread; item < p.heads() * rest; item += kThreads) {
      const auto row = p.row(token, item / rest);
      const int d = p.rotary + item % rest * N;
      if (row.x == row.y) continue;
      st(reinterpret_cast<Vec<T, N>*>(row.y + d), ld(reinterpret_cast<const Vec<T, N>*>(row.x + d)));
    }
  }
}

void run(const rope::Args& a, const Launch& l) {
  const std::int64_t tokens = a.q.shape[0] * a.q.shape[1];
  if (tokens == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem_of<T>(a);
    // The angles of four tokens of 64 pairs keep all threads busy.  Few tokens are spread over more blocks.
    const int group = tokens < kManyTokens || p.half > kThreads ? 1 : 4;
    with_pack_width<T>(a, [&]<int N>(std::integral_constant<int, N>) {
      launch(rope_vector16<T, N>,
             {.grid = dim3(ceil_div(tokens, group)),
              .block = dim3(kThreads),
              .shared_bytes = std::max<std::size_t>(p.half, 1) * group * sizeof(Rotation)},
             l.stream, p, group);
    });
  });
}

}  // namespace assay::ROOM(rope, vector16)
