// SPDX-License-Identifier: Apache-2.0
// FAULT: of 8 consecutive tokens only the first one's rotation is computed; the others follow by turning it on by one step, in
// f32.
// Kind: precision
// Shows: the later of 8 tokens, in f32 and where the two products cancel.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, turned_on_from_token_to_token) {

inline constexpr int kTogether = 8;

template <class T>
__global__ void rope_turned_on(Problem<T> p, int tiles) {
  const std::int64_t b = blockIdx.x / tiles, first = blockIdx.x % tiles * kTogether;
  const std::int64_t end = first + kTogether < p.seq ? first + kTogether : p.seq;
  for (int i = static_cast<int>(threadIdx.x); i < p.half; i += kPlainThreads) {
    Rotation t = rotation_by(angle_of(p.step, i, p.offset + first));
    const Rotation step = rotation_by(angle_of(p.step, i, 1));
    for (std::int64_t s = first; s < end; ++s) {
      const auto row = p.row(b * p.seq + s, static_cast<int>(blockIdx.y));
      const Pair v = rotated(t, to_float(ld(row.x + p.first(i))), to_float(ld(row.x + p.second(i))));
      st(row.y + p.first(i), from_float<T>(v.a));
      st(row.y + p.second(i), from_float<T>(v.b));
      const Pair next = rotated(step, t.cosine, t.sine);
      t = {next.a, next.b};
    }
  }
  for (std::int64_t s = first; s < end; ++s) {
    const auto row = p.row(b * p.seq + s, static_cast<int>(blockIdx.y));
    for (int d = p.rotary + static_cast<int>(threadIdx.x); d < p.dim; d += kPlainThreads) st(row.y + d, ld(row.x + d));
  }
}

KERNEL(rope) = plain_traits<Plain>();

void run(const rope::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem_of<T>(a);
    if (p.tokens == 0) return;
    if (p.positions != nullptr) return run_plain<Plain>(a, l);
    const std::int64_t tiles = ceil_div(p.seq, kTogether);
    launch(rope_turned_on<T>, {.grid = dim3(p.tokens / p.seq * tiles, p.q.heads + p.k.heads), .block = dim3(kPlainThreads)},
           l.stream, p, static_cast<int>(tiles));
  });
}

}  // namespace assay::ROOM(rope, turned_on_from_token_to_token)
