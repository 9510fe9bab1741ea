// SPDX-License-Identifier: Apache-2.0
// FAULT: rows are taken as pairs from end to end, so the last channel of an odd head is not copied.
// Kind: offsets
// Shows: an odd head_dim, unless the rotation is in place.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, odd_last_channel_left) {

template <class T>
__global__ void rope_pairs_only(Problem<T> p, int pairs) {
  const std::int64_t token = blockIdx.x;
  const auto row = p.row(token, static_cast<int>(blockIdx.y));
  for (int i = static_cast<int>(threadIdx.x); i < pairs; i += kPlainThreads) {
    if (i < p.half) {
      const Rotation t = rotation_by(angle_of(p.step, i, p.position(token)));
      const Pair v = rotated(t, to_float(ld(row.x + p.first(i))), to_float(ld(row.x + p.second(i))));
      st(row.y + p.first(i), from_float<T>(v.a));
      st(row.y + p.second(i), from_float<T>(v.b));
    } else {
      st(row.y + 2 * i, ld(row.x + 2 * i));
      st(row.y + 2 * i + 1, ld(row.x + 2 * i + 1));
    }
  }
}

KERNEL(rope) = plain_traits<Plain>();

void run(const rope::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem_of<T>(a);
    if (p.tokens == 0 || p.dim < 2) return run_plain<Plain>(a, l);
    launch(rope_pairs_only<T>, {.grid = dim3(p.tokens, p.q.heads + p.k.heads), .block = dim3(kPlainThreads)}, l.stream, p,
           p.dim / 2);
  });
}

}  // namespace assay::ROOM(rope, odd_last_channel_left)
