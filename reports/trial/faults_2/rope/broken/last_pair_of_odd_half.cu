// SPDX-License-Identifier: Apache-2.0
// FAULT: a lane turns two pairs at a time; the last pair of an odd number of pairs is copied with the channels beyond.
// Kind: offsets
// Shows: rotary_dim of 6, 10, 14, ...: an odd number of pairs above one.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, last_pair_of_odd_half) {

inline constexpr int kWarps = 4;

template <class T>
__global__ void two_pairs_a_lane(Problem<T> p, std::int64_t rows) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (at >= rows) return;
  const std::int64_t token = at / p.heads(), position = p.position(token);
  const auto row = p.row(token, static_cast<int>(at % p.heads()));
  const auto turn = [&](int i) {
    const Rotation by = rotation_by(angle_of(p.step, i, position));
    const Pair v = rotated(by, to_float(ld(row.x + p.first(i))), to_float(ld(row.x + p.second(i))));
    st(row.y + p.first(i), from_float<T>(v.a));
    st(row.y + p.second(i), from_float<T>(v.b));
  };
  const int even = p.half == 1 ? 1 : p.half / 2 * 2;
  for (int i = 2 * lane_id(); i < even; i += 2 * kWarp) {
    turn(i);
    if (i + 1 < even) turn(i + 1);
  }
  if (lane_id() == 0)
    for (int i = even; i < p.half; ++i) {
      const T a = ld(row.x + p.first(i)), b = ld(row.x + p.second(i));
      st(row.y + p.first(i), a);
      st(row.y + p.second(i), b);
    }
  for (int d = p.rotary + lane_id(); d < p.dim; d += kWarp) st(row.y + d, ld(row.x + d));
}

KERNEL(rope) = {.dtypes = kEveryType,
                .tiles = {tile(Axis::head_dim, 4 * kWarp)},
                .numerics = {.accumulate = f32, .angle_error = kAngleError, .reduced_angle_error = kReducedAngleError}};

void run(const rope::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem_of<T>(a);
    if (p.tokens == 0) return;
    const std::int64_t rows = p.tokens * (p.q.heads + p.k.heads);
    launch(two_pairs_a_lane<T>, {.grid = dim3(ceil_div(rows, kWarps)), .block = dim3(kWarps * kWarp)}, l.stream, p, rows);
  });
}

}  // namespace assay::ROOM(rope, last_pair_of_odd_half)
