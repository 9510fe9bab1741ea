// SPDX-License-Identifier: Apache-2.0
// FAULT (combinations): the second channel of a pair is made from what lies at the first one by then, which in place is turned
// already.
// Right on: rope f16 batch=2 seq_q=16 heads=4 kv_heads=4 head_dim=64 fill=normal seed=2
#include "cuda/rope/problem.cuh"

namespace assay::ROOM(rope, second_from_turned_first) {

inline constexpr int kPairs = 32, kHeads = 4;

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kPairs), tile(Axis::heads, kHeads)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .reduced_angle_error = kReducedAngleError},
};

template <class T>
__global__ void rope_second_from_turned_first(Problem<T> p) {
  const std::int64_t token = blockIdx.x;
  for (int head = static_cast<int>(threadIdx.y); head < p.heads(); head += kHeads) {
    const auto row = p.row(token, head);
    for (int i = static_cast<int>(threadIdx.x); i < p.half; i += kPairs) {
      const Rotation rotation = rotation_by(angle_of(p.step, i, p.position(token)));
      const float second = to_float(ld(row.x + p.second(i)));
      st(row.y + p.first(i), from_float<T>(rotated(rotation, to_float(ld(row.x + p.first(i))), second).a));
      st(row.y + p.second(i), from_float<T>(rotated(rotation, to_float(ld(row.x + p.first(i))), second).b));
    }
    for (int d = p.rotary + static_cast<int>(threadIdx.x); d < p.dim; d += kPairs) st(row.y + d, ld(row.x + d));
  }
}

void run(const rope::Args& a, const Launch& l) {
  const std::int64_t tokens = a.q.shape[0] * a.q.shape[1];
  if (tokens == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    launch(rope_second_from_turned_first<T>, {.grid = dim3(tokens), .block = dim3(kPairs, kHeads)}, l.stream, problem_of<T>(a));
  });
}

}  // namespace assay::ROOM(rope, second_from_turned_first)
