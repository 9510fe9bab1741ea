// SPDX-License-Identifier: Apache-2.0
// One thread per pair, one block per token, any layout: the angle in f64, reduced mod 2 pi before it becomes f32; cosine and sine
// of it; the rotation.  Every head recomputes its angles.
#include "cuda/rope/problem.cuh"

namespace assay::ROOM(rope, naive) {

inline constexpr int kPairs = 32, kHeads = 4;

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kPairs), tile(Axis::heads, kHeads)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .reduced_angle_error = kReducedAngleError},
};

template <class T>
__global__ void rope_naive(Problem<T> p) {
  const std::int64_t token = blockIdx.x;
  for (int head = static_cast<int>(threadIdx.y); head < p.heads(); head += kHeads) {
    const auto row = p.row(token, head);
    for (int i = static_cast<int>(threadIdx.x); i < p.half; i += kPairs) {
      const Rotation rotation = rotation_by(p.angle(i, p.position(token)));
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
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    launch(rope_naive<T>, {.grid = dim3(tokens), .block = dim3(kPairs, kHeads)}, l.stream, problem_of<T>(a));
  });
}

}  // namespace assay::ROOM(rope, naive)
