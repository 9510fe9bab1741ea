// SPDX-License-Identifier: Apache-2.0
// A pair of channels of a token a thread, which keeps its rotation and goes through all heads of q and of k; threads beyond the
// pairs
// copy the channels that are not rotated.
#include "cuda/rope/problem.cuh"

namespace assay::ROOM(rope, pair_for_all_heads) {

using namespace rope_room;

inline constexpr int kThreads = 64;

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, 2 * kThreads)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .reduced_angle_error = kReducedAngleError},
};

// Items of a token: its pairs, then its copied channels.
template <class T>
__global__ void rope_pair_for_all_heads(Problem<T> p, std::int64_t items) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= p.tokens * items) return;
  const std::int64_t token = i / items;
  const int item = static_cast<int>(i % items);
  if (item >= p.half) {
    const int c = p.rotary + item - p.half;
    for (int head = 0; head < p.heads(); ++head) {
      const auto row = p.row(token, head);
      st(row.y + c, ld(row.x + c));
    }
    return;
  }
  const Rotation turn = rotation_by(angle_of(p.step, item, p.position(token)));
  for (int head = 0; head < p.heads(); ++head) {
    const auto row = p.row(token, head);
    const float a = to_float(ld(row.x + p.first(item))), b = to_float(ld(row.x + p.second(item)));
    st(row.y + p.first(item), from_float<T>(a * turn.cosine - b * turn.sine));
    st(row.y + p.second(item), from_float<T>(b * turn.cosine + a * turn.sine));
  }
}

void run(const rope::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem_of<T>(a);
    const std::int64_t items = p.half + p.dim - p.rotary;
    if (p.tokens == 0) return;
    launch(rope_pair_for_all_heads<T>, {.grid = dim3(ceil_div(p.tokens * items, kThreads)), .block = dim3(kThreads)}, l.stream, p,
           items);
  });
}

}  // namespace assay::ROOM(rope, pair_for_all_heads)
