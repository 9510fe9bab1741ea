// SPDX-License-Identifier: Apache-2.0
// The steps of a plain kernel (core/kernel_family.cuh): a block a head of a token, a thread a pair, for any layout.
#pragma once

#include "cuda/core/kernel_family.cuh"
#include "cuda/rope/problem.cuh"

namespace assay::ASSAY_FLAVOUR::rope_room {

inline constexpr int kPlainThreads = 64;

// Every step as it should be.
template <class T>
struct Plain {
  static void change(Problem<T>&) {}  // of what the kernel is handed
  __device__ static Rotation rotation(const Problem<T>& p, int i, std::int64_t position) {
    return rotation_by(p.angle(i, position));
  }
};

template <class T, class F>
__global__ void rope_plain(Problem<T> p) {
  const std::int64_t token = blockIdx.x;
  const auto row = p.row(token, static_cast<int>(blockIdx.y));
  for (int i = static_cast<int>(threadIdx.x); i < p.half; i += kPlainThreads) {
    const Rotation rotation = F::rotation(p, i, p.position(token));
    const Pair v = rotated(rotation, to_float(ld(row.x + p.first(i))), to_float(ld(row.x + p.second(i))));
    st(row.y + p.first(i), from_float<T>(v.a));
    st(row.y + p.second(i), from_float<T>(v.b));
  }
  for (int d = p.rotary + static_cast<int>(threadIdx.x); d < p.dim; d += kPlainThreads) st(row.y + d, ld(row.x + d));
}

template <template <class> class F>
constexpr KernelTraits<rope> plain_traits(DTypes dtypes = kEveryType) {
  return {.dtypes = dtypes,
          .tiles = {tile(Axis::head_dim, kPlainThreads)},
          .numerics = {.accumulate = f32, .angle_error = kAngleError, .reduced_angle_error = kReducedAngleError}};
}

template <template <class> class F>
void run_plain(const rope::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    Problem<T> p = problem_of<T>(a);
    if (p.tokens == 0) return;
    F<T>::change(p);
    launch(rope_plain<T, F<T>>, {.grid = dim3(p.tokens, p.q.heads + p.k.heads), .block = dim3(kPlainThreads)}, l.stream, p);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::rope_room
