// SPDX-License-Identifier: Apache-2.0
// FAULT: with interleaved pairs the frequencies are powers over head_dim, not over rotary_dim; wrong where only a part of the
//   head is rotated.
// KIND: combinations
// Right on: rope f16 batch=2 seq_q=32 heads=4 kv_heads=2 head_dim=64 fill=normal seed=1
// Wrong on: rope f16 batch=2 seq_q=8 heads=2 kv_heads=1 head_dim=32 layout_of_pairs=interleaved rotary_dim=16 fill=normal seed=1
#include "cuda/rope/packs.cuh"

namespace assay::ROOM(rope, interleaved_frequency_of_whole_head) {

inline constexpr int kThreads = 256, kBatch = 2;

// A thread processes two 16-byte packs at a time.
KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile_bytes(Axis::head_dim, 32)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .reduced_angle_error = kReducedAngleError},
};

template <class T, int N>
__global__ void __launch_bounds__(kThreads) rope_interleaved_frequency_of_whole_head(Problem<T> p) {
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
  for (int i = thread; i < p.half; i += kThreads) st(turns + i, rotation_by(angle_of(p.step, i, position)));
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
    Problem<T> p = problem_of<T>(a);
    if (p.interleaved) p.step = 2 * std::log2(a.base_used()) / p.dim;
    with_pack_width<T>(a, [&]<int N>(std::integral_constant<int, N>) {
      launch(rope_interleaved_frequency_of_whole_head<T, N>,
             {.grid = dim3(tokens), .block = dim3(kThreads), .shared_bytes = std::max<std::size_t>(p.half, 1) * sizeof(Rotation)},
             l.stream, p);
    });
  });
}

}  // namespace assay::ROOM(rope, interleaved_frequency_of_whole_head)
