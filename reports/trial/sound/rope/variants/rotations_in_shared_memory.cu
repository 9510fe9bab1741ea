// SPDX-License-Identifier: Apache-2.0
// A token a block: its rotations go to shared memory, for up to 4096 pairs; then warps take its heads in turns.
#include "cuda/rope/problem.cuh"

namespace assay::ROOM(rope, rotations_in_shared_memory) {

using namespace rope_room;

inline constexpr int kWarps = 3;
inline constexpr std::int64_t kMostPairs = 4096;

Legality supports(const rope::Args& a) {
  return a.rotary() / 2 > kMostPairs ? Legality::no("there are more than 4096 pairs") : Legality::yes();
}
KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::heads, kWarps), tile(Axis::head_dim, 2 * kWarp)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .reduced_angle_error = kReducedAngleError},
    .supports = supports,
};

template <class T>
__global__ void rope_rotations_in_shared_memory(Problem<T> p) {
  Rotation* const turns = shared_memory<Rotation>();
  const std::int64_t token = blockIdx.x, position = p.position(token);
  for (int i = static_cast<int>(threadIdx.x); i < p.half; i += kWarps * kWarp)
    st(turns + i, rotation_by(angle_of(p.step, i, position)));
  sync_block();
  for (int head = warp_id(); head < p.heads(); head += kWarps) {
    const auto row = p.row(token, head);
    for (int i = lane_id(); i < p.half; i += kWarp) {
      const Pair v = rotated(ld(turns + i), to_float(ld(row.x + p.first(i))), to_float(ld(row.x + p.second(i))));
      st(row.y + p.first(i), from_float<T>(v.a));
      st(row.y + p.second(i), from_float<T>(v.b));
    }
    for (int c = p.rotary + lane_id(); c < p.dim; c += kWarp) st(row.y + c, ld(row.x + c));
  }
}

void run(const rope::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem_of<T>(a);
    if (p.tokens == 0) return;
    launch(rope_rotations_in_shared_memory<T>,
           {.grid = dim3(p.tokens),
            .block = dim3(kWarps * kWarp),
            .shared_bytes = static_cast<std::size_t>(p.half) * sizeof(Rotation)},
           l.stream, p);
  });
}

}  // namespace assay::ROOM(rope, rotations_in_shared_memory)
