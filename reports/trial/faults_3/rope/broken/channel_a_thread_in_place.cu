// SPDX-License-Identifier: Apache-2.0
// FAULT: a thread computes one channel and reads its partner, which another thread may have overwritten when the output is the
// input.
// Kind: layout
// Shows: in_place=yes.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, channel_a_thread_in_place) {

template <class T>
__global__ void rope_channel_a_thread(Problem<T> p) {
  const std::int64_t token = blockIdx.x;
  const auto row = p.row(token, static_cast<int>(blockIdx.y));
  for (int d = static_cast<int>(threadIdx.x); d < p.dim; d += kPlainThreads) {
    if (d >= p.rotary) {
      st(row.y + d, ld(row.x + d));
      continue;
    }
    const int i = p.interleaved ? d / 2 : d % p.half;
    const Rotation t = rotation_by(angle_of(p.step, i, p.position(token)));
    const Pair v = rotated(t, to_float(ld(row.x + p.first(i))), to_float(ld(row.x + p.second(i))));
    st(row.y + d, from_float<T>(d == p.first(i) ? v.a : v.b));
  }
}

KERNEL(rope) = plain_traits<Plain>();

void run(const rope::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem_of<T>(a);
    if (p.tokens == 0) return;
    launch(rope_channel_a_thread<T>, {.grid = dim3(p.tokens, p.q.heads + p.k.heads), .block = dim3(kPlainThreads)}, l.stream, p);
  });
}

}  // namespace assay::ROOM(rope, channel_a_thread_in_place)
