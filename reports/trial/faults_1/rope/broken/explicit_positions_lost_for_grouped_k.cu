// SPDX-License-Identifier: Apache-2.0
// FAULT: where k has fewer heads than q, its positions are consecutive, also where positions are given.
// Kind: combinations
// Shows: explicit positions with fewer kv_heads than heads.
#include "cuda/rope/problem.cuh"

namespace assay::ROOM(rope, explicit_positions_lost_for_grouped_k) {

inline constexpr int kThreads = 64;

template <class T>
__global__ void rope_row(Problem<T> p) {
  const std::int64_t token = blockIdx.x;
  const auto row = p.row(token, static_cast<int>(blockIdx.y));
  const bool grouped_k = static_cast<int>(blockIdx.y) >= p.q.heads && p.k.heads < p.q.heads;
  const std::int64_t position = grouped_k ? p.offset + token % p.seq : p.position(token);
  for (int i = static_cast<int>(threadIdx.x); i < p.half; i += kThreads) {
    const Rotation rotation = rotation_by(angle_of(p.step, i, position));
    const Pair v = rotated(rotation, to_float(ld(row.x + p.first(i))), to_float(ld(row.x + p.second(i))));
    st(row.y + p.first(i), from_float<T>(v.a));
    st(row.y + p.second(i), from_float<T>(v.b));
  }
  for (int d = p.rotary + static_cast<int>(threadIdx.x); d < p.dim; d += kThreads) st(row.y + d, ld(row.x + d));
}

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kThreads)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .reduced_angle_error = kReducedAngleError},
};

void run(const rope::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem_of<T>(a);
    if (p.tokens == 0) return;
    launch(rope_row<T>, {.grid = dim3(p.tokens, p.q.heads + p.k.heads), .block = dim3(kThreads)}, l.stream, p);
  });
}

}  // namespace assay::ROOM(rope, explicit_positions_lost_for_grouped_k)
