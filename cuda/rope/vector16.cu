// SPDX-License-Identifier: Apache-2.0
// One block per token: computes its angles once, in shared memory, for all heads, while 16-byte packs of q and k are in flight.
// Narrower packs if pairs, head size or alignment require it.  Angles in f64, reduced mod 2 pi, then f32.
#include "cuda/rope/packs.cuh"

namespace assay::ROOM(rope, vector16) {

inline constexpr int kThreads = 256, kBatch = 2;

// A thread processes two 16-byte packs at a time.
KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile_bytes(Axis::head_dim, 32)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .reduced_angle_error = kReducedAngleError},
};

template <class T, int N>
__global__ void __launch_bounds__(kThreads) rope_vector16(Problem<T> p) {
  next_grid_may_start();
  wait_for_previous_grid();
  const std::int64_t token = blockIdx.x;
  Rotation* const turns = shared_memory<Rotation>();
  const int thread = static_cast<int>(threadIdx.x), packs = p.half / N, all = p.heads() * packs;

  // Load the first batch.
  PairPacks<T, N> v[kBatch];
  const auto load = [&](int base) {
#pragma unroll
    for (int b = 0; b < kBatch; ++b)
      if (const int item = base + b * kThreads; item < all) v[b].load(p, p.row(token, item / packs).x, item % packs);
  };
  load(thread);

  // Compute the angles of the token.
  const std::int64_t position = p.position(token);
  for (int i = thread; i < p.half; i += kThreads) st(turns + i, rotation_by(p.angle(i, position)));
  sync_block();

  for (int base = thread; base < all; base += kBatch * kThreads) {
    if (base != thread) load(base);
#pragma unroll
    for (int b = 0; b < kBatch; ++b)
      if (const int item = base + b * kThreads; item < all) {
        const Rotation* const mine = turns + item % packs * N;
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

void run(const rope::Args& a, const Launch& l) {
  const std::int64_t tokens = a.q.shape[0] * a.q.shape[1];
  if (tokens == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem_of<T>(a);
    with_pack_width<T>(a, [&]<int N>(std::integral_constant<int, N>) {
      launch(rope_vector16<T, N>,
             {.grid = dim3(tokens),
              .block = dim3(kThreads),
              .shared_bytes = std::max<std::size_t>(p.half, 1) * sizeof(Rotation),
              .dependent = l.after},
             l.stream, p);
    });
  });
}

}  // namespace assay::ROOM(rope, vector16)
