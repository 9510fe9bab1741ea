// SPDX-License-Identifier: Apache-2.0
// FAULT: channel i is paired with i + rotary_dim/2 whatever the layout, as where a checkpoint is not permuted.
// Caught by: the comparison with layout_of_pairs=interleaved; on one_channel by where the zeros are.
#include "cuda/rope/problem.cuh"

namespace assay::ROOM(rope, half_for_interleaved) {

inline constexpr int kThreads = 64;

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kThreads)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .turn_error = kTurnError},
};

template <class T>
__global__ void half_for_interleaved(Problem<T> p) {
  const std::int64_t token = blockIdx.x;
  const auto row = p.row(token, static_cast<int>(blockIdx.y));
  for (int i = static_cast<int>(threadIdx.x); i < p.half; i += kThreads) {
    const Turn turn = turn_by(angle_of(p.step, i, p.position(token)));
    const Pair v = turned(turn, to_float(ld(row.x + i)), to_float(ld(row.x + i + p.half)));
    st(row.y + i, from_float<T>(v.a));
    st(row.y + i + p.half, from_float<T>(v.b));
  }
  for (int d = p.rotary + static_cast<int>(threadIdx.x); d < p.dim; d += kThreads) st(row.y + d, ld(row.x + d));
}

void run(const rope::Args& a, const Launch& l) {
  const std::int64_t tokens = a.q.shape[0] * a.q.shape[1], heads = a.q.shape[2] + a.k.shape[2];
  if (tokens == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem_of<T>(a);
    launch(half_for_interleaved<T>, {.grid = dim3(tokens, heads), .block = dim3(kThreads)}, l.stream, p);
  });
}

}  // namespace assay::ROOM(rope, half_for_interleaved)
