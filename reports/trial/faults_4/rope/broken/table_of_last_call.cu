// SPDX-License-Identifier: Apache-2.0
// FAULT: keeps the table of cosines and sines (up to 8192 of them) between calls, as layers of a model may, and computes it
// anew if the shape, base, offset or the address of positions changes, but not if the positions themselves do. Visible in the
// next call with other positions at the same address.
// KIND: cheats
#include "cuda/rope/problem.cuh"

namespace assay::ROOM(rope, table_of_last_call) {

inline constexpr int kPairs = 32, kHeads = 4;

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kPairs), tile(Axis::heads, kHeads)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .reduced_angle_error = kReducedAngleError},
};

inline constexpr std::int64_t kKept = 8192;
__device__ Rotation kept[kKept];

template <class T>
__global__ void rope_keep(Problem<T> p) {
  for (int i = static_cast<int>(threadIdx.x); i < p.half; i += kPairs)
    kept[blockIdx.x * p.half + i] = rotation_by(angle_of(p.step, i, p.position(blockIdx.x)));
}

template <class T>
__global__ void rope_naive(Problem<T> p, bool keeps) {
  const std::int64_t token = blockIdx.x;
  for (int head = static_cast<int>(threadIdx.y); head < p.heads(); head += kHeads) {
    const auto row = p.row(token, head);
    for (int i = static_cast<int>(threadIdx.x); i < p.half; i += kPairs) {
      const Rotation rotation = keeps ? kept[token * p.half + i] : rotation_by(angle_of(p.step, i, p.position(token)));
      const Pair v = rotated(rotation, to_float(ld(row.x + p.first(i))), to_float(ld(row.x + p.second(i))));
      st(row.y + p.first(i), from_float<T>(v.a));
      st(row.y + p.second(i), from_float<T>(v.b));
    }
    for (int d = p.rotary + static_cast<int>(threadIdx.x); d < p.dim; d += kPairs) st(row.y + d, ld(row.x + d));
  }
}

// What the table depends on.
struct Key {
  std::int64_t tokens = 0, seq = 0, offset = 0, half = 0;
  double step = 0;
  const void* positions = nullptr;
  bool operator==(const Key&) const = default;
};

void run(const rope::Args& a, const Launch& l) {
  const std::int64_t tokens = a.q.shape[0] * a.q.shape[1];
  if (tokens == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem_of<T>(a);
    const Key key{p.tokens, p.seq, p.offset, p.half, p.step, p.positions};
    const bool keeps = p.tokens * p.half <= kKept;
    static Key last;
    if (keeps && !(key == last)) {
      launch(rope_keep<T>, {.grid = dim3(tokens), .block = dim3(kPairs)}, l.stream, p);
      last = key;
    }
    launch(rope_naive<T>, {.grid = dim3(tokens), .block = dim3(kPairs, kHeads)}, l.stream, p, keeps);
  });
}

}  // namespace assay::ROOM(rope, table_of_last_call)
