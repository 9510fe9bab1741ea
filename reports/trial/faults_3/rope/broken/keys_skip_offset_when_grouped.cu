// SPDX-License-Identifier: Apache-2.0
// FAULT: with fewer key heads than query heads, the keys are rotated without the offset.
// Kind: combinations
// Shows: an offset with fewer key heads than query heads.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, keys_skip_offset_when_grouped) {

template <class T>
__global__ void rope_two_sides(Problem<T> p) {
  const std::int64_t token = blockIdx.x;
  const int head = static_cast<int>(blockIdx.y);
  const auto row = p.row(token, head);
  const bool key = head >= p.q.heads;
  const std::int64_t position = p.position(token) - (key && p.k.heads != p.q.heads ? p.offset : 0);
  for (int i = static_cast<int>(threadIdx.x); i < p.half; i += kPlainThreads) {
    const Pair v = rotated(rotation_by(angle_of(p.step, i, position)), to_float(ld(row.x + p.first(i))),
                           to_float(ld(row.x + p.second(i))));
    st(row.y + p.first(i), from_float<T>(v.a));
    st(row.y + p.second(i), from_float<T>(v.b));
  }
  for (int d = p.rotary + static_cast<int>(threadIdx.x); d < p.dim; d += kPlainThreads) st(row.y + d, ld(row.x + d));
}

KERNEL(rope) = plain_traits<Plain>();

void run(const rope::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem_of<T>(a);
    if (p.tokens == 0) return;
    launch(rope_two_sides<T>, {.grid = dim3(p.tokens, p.q.heads + p.k.heads), .block = dim3(kPlainThreads)}, l.stream, p);
  });
}

}  // namespace assay::ROOM(rope, keys_skip_offset_when_grouped)
