// SPDX-License-Identifier: Apache-2.0
// FAULT: one thread a channel reads its partner, which another thread may have written. Right where the output is apart.
// Caught by: the comparison with in_place=yes, where the threads of a block come in an order: simt; on a GPU beyond a warp.
#include "cuda/rope/problem.cuh"

namespace assay::ROOM(rope, partner_overwritten) {

inline constexpr int kThreads = 64;

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kThreads)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .turn_error = kTurnError},
};

template <class T>
__global__ void partner_overwritten(Problem<T> p) {
  const std::int64_t token = blockIdx.x;
  const auto row = p.row(token, static_cast<int>(blockIdx.y));
  for (int d = static_cast<int>(threadIdx.x); d < p.dim; d += kThreads) {
    float v = to_float(ld(row.x + d));
    if (d < p.rotary) {
      const int i = p.interleaved ? d / 2 : d % p.half;
      const bool first = d == p.first(i);
      const Turn turn = turn_by(angle_of(p.step, i, p.position(token)));
      const float other = to_float(ld(row.x + (first ? p.second(i) : p.first(i))));
      v = first ? turned(turn, v, other).a : turned(turn, other, v).b;
    }
    st(row.y + d, from_float<T>(v));
  }
}

void run(const rope::Args& a, const Launch& l) {
  const std::int64_t tokens = a.q.shape[0] * a.q.shape[1], heads = a.q.shape[2] + a.k.shape[2];
  if (tokens == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem_of<T>(a);
    launch(partner_overwritten<T>, {.grid = dim3(tokens, heads), .block = dim3(kThreads)}, l.stream, p);
  });
}

}  // namespace assay::ROOM(rope, partner_overwritten)
