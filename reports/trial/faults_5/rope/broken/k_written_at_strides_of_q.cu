// SPDX-License-Identifier: Apache-2.0
// FAULT: k_out is written at the batch and token strides of q_out if q and k have equally many heads.
// KIND: layout
// Right on: rope f16 batch=2 seq_q=32 heads=4 kv_heads=4 head_dim=64 fill=normal seed=1
// Wrong on: rope f16 batch=2 seq_q=5 heads=2 kv_heads=2 head_dim=16 layout=mixed fill=normal seed=1
#include "cuda/rope/problem.cuh"

namespace assay::ROOM(rope, k_written_at_strides_of_q) {

inline constexpr int kPairs = 32, kHeads = 4;

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kPairs), tile(Axis::heads, kHeads)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .reduced_angle_error = kReducedAngleError},
};

template <class T>
__global__ void rope_k_written_at_strides_of_q(Problem<T> p) {
  const std::int64_t token = blockIdx.x;
  for (int head = static_cast<int>(threadIdx.y); head < p.heads(); head += kHeads) {
    const auto row = p.row(token, head);
    for (int i = static_cast<int>(threadIdx.x); i < p.half; i += kPairs) {
      const Rotation rotation = rotation_by(angle_of(p.step, i, p.position(token)));
      const Pair v = rotated(rotation, to_float(ld(row.x + p.first(i))), to_float(ld(row.x + p.second(i))));
      st(row.y + p.first(i), from_float<T>(v.a));
      st(row.y + p.second(i), from_float<T>(v.b));
    }
    for (int d = p.rotary + static_cast<int>(threadIdx.x); d < p.dim; d += kPairs) st(row.y + d, ld(row.x + d));
  }
}

void run(const rope::Args& a, const Launch& l) {
  const std::int64_t tokens = a.q.shape[0] * a.q.shape[1];
  if (tokens == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    Problem<T> p = problem_of<T>(a);
    if (p.q.heads == p.k.heads) p.k.y_batch = p.q.y_batch, p.k.y_token = p.q.y_token, p.k.y_head = p.q.y_head;
    launch(rope_k_written_at_strides_of_q<T>, {.grid = dim3(tokens), .block = dim3(kPairs, kHeads)}, l.stream, p);
  });
}

}  // namespace assay::ROOM(rope, k_written_at_strides_of_q)
