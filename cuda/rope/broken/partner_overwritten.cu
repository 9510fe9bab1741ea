// SPDX-License-Identifier: Apache-2.0
// FAULT: one thread a channel reads its partner, which another thread may have written. Right where the output is apart.
// Caught by: the comparison with in_place=yes, where the threads of a block come in an order: simt; on a GPU beyond a warp.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, partner_overwritten) {

KERNEL(rope) = plain_traits<Plain>();

template <class T>
__global__ void partner_overwritten(Problem<T> p) {
  const std::int64_t token = blockIdx.x;
  const auto row = p.row(token, static_cast<int>(blockIdx.y));
  for (int d = static_cast<int>(threadIdx.x); d < p.dim; d += kPlainThreads) {
    float v = to_float(ld(row.x + d));
    if (d < p.rotary) {
      const int i = p.interleaved ? d / 2 : d % p.half;
      const bool first = d == p.first(i);
      const Rotation rotation = Plain<T>::rotation(p, i, p.position(token));
      const float other = to_float(ld(row.x + (first ? p.second(i) : p.first(i))));
      v = first ? rotated(rotation, v, other).a : rotated(rotation, other, v).b;
    }
    st(row.y + d, from_float<T>(v));
  }
}

void run(const rope::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem_of<T>(a);
    if (p.tokens == 0) return;
    launch(partner_overwritten<T>, {.grid = dim3(p.tokens, p.q.heads + p.k.heads), .block = dim3(kPlainThreads)}, l.stream, p);
  });
}

}  // namespace assay::ROOM(rope, partner_overwritten)
