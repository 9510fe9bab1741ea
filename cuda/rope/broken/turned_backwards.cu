// SPDX-License-Identifier: Apache-2.0
// FAULT: the sine has the other sign: the inverse rotation. Right at position 0, and for scores where q and k share it.
// Caught by: the comparison at any other position.
#include "cuda/rope/problem.cuh"

namespace assay::ROOM(rope, turned_backwards) {

inline constexpr int kThreads = 64;

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kThreads)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .turn_error = kTurnError},
};

template <class T>
__global__ void turned_backwards(Problem<T> p) {
  const std::int64_t token = blockIdx.x;
  const auto row = p.row(token, static_cast<int>(blockIdx.y));
  for (int i = static_cast<int>(threadIdx.x); i < p.half; i += kThreads) {
    const Turn turn = turn_by(angle_of(p.step, i, p.position(token)));
    const Pair v = turned({turn.cosine, -turn.sine}, to_float(ld(row.x + p.first(i))), to_float(ld(row.x + p.second(i))));
    st(row.y + p.first(i), from_float<T>(v.a));
    st(row.y + p.second(i), from_float<T>(v.b));
  }
  for (int d = p.rotary + static_cast<int>(threadIdx.x); d < p.dim; d += kThreads) st(row.y + d, ld(row.x + d));
}

void run(const rope::Args& a, const Launch& l) {
  const std::int64_t tokens = a.q.shape[0] * a.q.shape[1], heads = a.q.shape[2] + a.k.shape[2];
  if (tokens == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem_of<T>(a);
    launch(turned_backwards<T>, {.grid = dim3(tokens, heads), .block = dim3(kThreads)}, l.stream, p);
  });
}

}  // namespace assay::ROOM(rope, turned_backwards)
