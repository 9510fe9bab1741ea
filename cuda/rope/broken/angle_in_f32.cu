// SPDX-License-Identifier: Apache-2.0
// FAULT: frequency and angle are taken in f32 and the declaration does not say so. Right to the last digit near the start.
// Caught by: the bound, from some hundred tokens on; on far_positions nothing is left.
#include "cuda/rope/problem.cuh"

namespace assay::ROOM(rope, angle_in_f32) {

inline constexpr int kThreads = 64;

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kThreads)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .turn_error = kTurnError},
};

template <class T>
__global__ void angle_in_f32(Problem<T> p) {
  const std::int64_t token = blockIdx.x;
  const auto row = p.row(token, static_cast<int>(blockIdx.y));
  for (int i = static_cast<int>(threadIdx.x); i < p.half; i += kThreads) {
    const float angle = static_cast<float>(p.position(token)) * exp2f(-static_cast<float>(p.step) * static_cast<float>(i));
    const Turn turn = {cosf(angle), sinf(angle)};
    const Pair v = turned(turn, to_float(ld(row.x + p.first(i))), to_float(ld(row.x + p.second(i))));
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
    launch(angle_in_f32<T>, {.grid = dim3(tokens, heads), .block = dim3(kThreads)}, l.stream, p);
  });
}

}  // namespace assay::ROOM(rope, angle_in_f32)
