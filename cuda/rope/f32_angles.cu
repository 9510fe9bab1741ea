// SPDX-License-Identifier: Apache-2.0
// Frequencies and angles in f32, as in most kernels: one thread per pair, one block per token.  At position 131,072 such an angle
// may be off by 33 2^-24 2^17 = 0.26 rad, which the declared angle_error allows; at small positions the error is negligible.
#include "cuda/rope/problem.cuh"

namespace assay::ROOM(rope, f32_angles) {

inline constexpr int kPairs = 32, kHeads = 4;
inline constexpr int kMostLog2Base = 20;

Legality supports(const rope::Args& a) {
  if (!a.given_frequencies && a.base_used() > 1 << kMostLog2Base)
    return Legality::no("a base above 2^20 leaves a frequency in f32 too few digits");
  return Legality::yes();
}

// angle_error: the exponent -i step, for step and the product: ln 2 * 20 * 2 units of the frequency; exp2f within 2 ulp, 4 units;
// the product with the position 1: 32.8 together.  With a table the last of these alone is left, as f32 holds every
// position.  Inputs are finite, since signs of inf depend on the angle.
KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .finite_inputs = true,
    .tiles = {tile(Axis::head_dim, kPairs), tile(Axis::heads, kHeads)},
    .numerics = {.accumulate = f32, .angle_error = 33},
    .supports = supports,
};

template <class T>
__global__ void rope_f32_angles(Problem<T> p, float step) {
  const std::int64_t token = blockIdx.x;
  const std::int64_t position = p.position(token);
  for (int head = static_cast<int>(threadIdx.y); head < p.heads(); head += kHeads) {
    const auto row = p.row(token, head);
    for (int i = static_cast<int>(threadIdx.x); i < p.half; i += kPairs) {
      const float angle = p.narrow_angle(step, i, position);
      const Pair v = rotated({cosf(angle), sinf(angle)}, to_float(ld(row.x + p.first(i))), to_float(ld(row.x + p.second(i))));
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
    const Problem<T> p = problem_of<T>(a);
    launch(rope_f32_angles<T>, {.grid = dim3(tokens), .block = dim3(kPairs, kHeads)}, l.stream, p, static_cast<float>(p.step));
  });
}

}  // namespace assay::ROOM(rope, f32_angles)
