// SPDX-License-Identifier: Apache-2.0
// FAULT (state): the step of the frequencies is found once for each rotary_dim, so a call with another base gets the base of
// the call before.
// Right on: rope f16 batch=2 seq_q=16 heads=4 kv_heads=4 head_dim=64 fill=normal seed=2
#include "cuda/rope/problem.cuh"

namespace assay::ROOM(rope, base_kept_per_rotary_dim) {

inline constexpr int kPairs = 32, kHeads = 4;

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kPairs), tile(Axis::heads, kHeads)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .reduced_angle_error = kReducedAngleError},
};

template <class T>
__global__ void rope_base_kept_per_rotary_dim(Problem<T> p) {
  const std::int64_t token = blockIdx.x;
  for (int head = static_cast<int>(threadIdx.y); head < p.heads(); head += kHeads) {
    const auto row = p.row(token, head);
    for (int i = static_cast<int>(threadIdx.x); i < p.half; i += kPairs) {
      const Rotation rotation = rotation_by(angle_of(p.step, i, p.position(token)));
      const Pair v = rotated(rotation, to_float(ld(row.x + p.first(i))), to_float(ld(row.x + p.second(i))));
      st(row.y + p.first(i), from_float<T>(v.a));
      st(row.y + p.second(i), from_float<T>(v.b));
    }
    for (int d = p.rotary + static_cast<int>(threadIdx.x); d < p.dim; d += kPairs) st(row.y + d, ld(row.x + d));
  }
}

void run(const rope::Args& a, const Launch& l) {
  const std::int64_t tokens = a.q.shape[0] * a.q.shape[1];
  if (tokens == 0) return;
  static int known = -1;
  static double step = 0;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    Problem<T> p = problem_of<T>(a);
    if (known != p.rotary) known = p.rotary, step = p.step;
    p.step = step;
    launch(rope_base_kept_per_rotary_dim<T>, {.grid = dim3(tokens), .block = dim3(kPairs, kHeads)}, l.stream, p);
  });
}

}  // namespace assay::ROOM(rope, base_kept_per_rotary_dim)
