// SPDX-License-Identifier: Apache-2.0
// FAULT: channels beyond rotary_dim are turned by an angle of zero, two at a time, instead of copied: an inf in one makes a
// NaN of the other.
// Kind: ranges
// Shows: rotary_dim < head_dim, and an inf or NaN in a channel that is copied.
#include "cuda/rope/problem.cuh"

namespace assay::ROOM(rope, copied_channels_turned_by_zero) {

inline constexpr int kThreads = 64;

template <class T>
__global__ void rope_row(Problem<T> p) {
  const std::int64_t token = blockIdx.x;
  const auto row = p.row(token, static_cast<int>(blockIdx.y));
  const std::int64_t position = p.position(token);
  for (int i = static_cast<int>(threadIdx.x); i < p.half; i += kThreads) {
    const Rotation rotation = rotation_by(angle_of(p.step, i, position));
    const Pair v = rotated(rotation, to_float(ld(row.x + p.first(i))), to_float(ld(row.x + p.second(i))));
    st(row.y + p.first(i), from_float<T>(v.a));
    st(row.y + p.second(i), from_float<T>(v.b));
  }
  const float cosine = 1, sine = 0;
  for (int d = p.rotary + 2 * static_cast<int>(threadIdx.x); d < p.dim; d += 2 * kThreads) {
    if (d + 1 == p.dim) {
      st(row.y + d, ld(row.x + d));
      continue;
    }
    const Pair v = rotated({cosine, sine}, to_float(ld(row.x + d)), to_float(ld(row.x + d + 1)));
    st(row.y + d, from_float<T>(v.a)), st(row.y + d + 1, from_float<T>(v.b));
  }
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

}  // namespace assay::ROOM(rope, copied_channels_turned_by_zero)
