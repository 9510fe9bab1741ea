// SPDX-License-Identifier: Apache-2.0
// FAULT: channels from rotary_dim on are left as they are in the output. Right in place, and where all of the head turns.
// Caught by: the comparison with a rotary_dim that is less; two runs on different garbage differ.
#include "cuda/rope/problem.cuh"

namespace assay::ROOM(rope, tail_not_copied) {

inline constexpr int kThreads = 64;

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kThreads)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .turn_error = kTurnError},
};

template <class T>
__global__ void tail_not_copied(Problem<T> p) {
  const std::int64_t token = blockIdx.x;
  const auto row = p.row(token, static_cast<int>(blockIdx.y));
  for (int i = static_cast<int>(threadIdx.x); i < p.half; i += kThreads) {
    const Turn turn = turn_by(angle_of(p.step, i, p.position(token)));
    const Pair v = turned(turn, to_float(ld(row.x + p.first(i))), to_float(ld(row.x + p.second(i))));
    st(row.y + p.first(i), from_float<T>(v.a));
    st(row.y + p.second(i), from_float<T>(v.b));
  }
}

void run(const rope::Args& a, const Launch& l) {
  const std::int64_t tokens = a.q.shape[0] * a.q.shape[1], heads = a.q.shape[2] + a.k.shape[2];
  if (tokens == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem_of<T>(a);
    launch(tail_not_copied<T>, {.grid = dim3(tokens, heads), .block = dim3(kThreads)}, l.stream, p);
  });
}

}  // namespace assay::ROOM(rope, tail_not_copied)
