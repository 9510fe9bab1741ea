// SPDX-License-Identifier: Apache-2.0
// The steps of kept_turns.cu (core/kernel_family.cuh) for any layout: a block a token, whose angles are computed once in shared
// memory, and a thread a pair of channels, whose rotation it keeps for all heads.
#pragma once

#include "cuda/core/kernel_family.cuh"
#include "cuda/rope/problem.cuh"

namespace assay::ASSAY_FLAVOUR::rope_room {

inline constexpr int kKeptThreads = 32, kHeadsAtOnce = 4;

// Every step as it should be.
template <class T>
struct Kept {
  // How many heads are rotated in batches of kHeadsAtOnce, of which the last may be less than whole.
  __device__ static int rotated_heads(const Problem<T>& p) { return p.heads(); }
  // The rotation of a thread's pair i, where it kept `kept` for the pair before; `first`: there was none.
  __device__ static Rotation turn(const Rotation* turns, int i, const Rotation&, bool) { return ld(turns + i); }
};

template <class T, class F>
__global__ void rope_kept(Problem<T> p) {
  const std::int64_t token = blockIdx.x;
  Rotation* const turns = shared_memory<Rotation>();
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < p.half; i += kKeptThreads) st(turns + i, rotation_by(p.angle(i, p.position(token))));
  sync_block();
  Rotation kept{};
  for (int i = thread; i < p.half; i += kKeptThreads) {
    kept = F::turn(turns, i, kept, i == thread);
    for (int first = 0; first < F::rotated_heads(p); first += kHeadsAtOnce)
      for (int head = first; head < first + kHeadsAtOnce && head < p.heads(); ++head) {
        const auto row = p.row(token, head);
        const Pair v = rotated(kept, to_float(ld(row.x + p.first(i))), to_float(ld(row.x + p.second(i))));
        st(row.y + p.first(i), from_float<T>(v.a));
        st(row.y + p.second(i), from_float<T>(v.b));
      }
  }
  const int rest = p.dim - p.rotary;
  for (int item = thread; item < p.heads() * rest; item += kKeptThreads) {
    const auto row = p.row(token, item / rest);
    const int d = p.rotary + item % rest;
    st(row.y + d, ld(row.x + d));
  }
}

template <template <class> class F>
constexpr KernelTraits<rope> kept_traits(DTypes dtypes = kEveryType) {
  return {.dtypes = dtypes,
          .tiles = {tile(Axis::head_dim, 2 * kKeptThreads)},
          .numerics = {.accumulate = f32, .angle_error = kAngleError, .reduced_angle_error = kReducedAngleError}};
}

template <template <class> class F>
void run_kept(const rope::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem_of<T>(a);
    if (p.tokens == 0) return;
    launch(rope_kept<T, F<T>>,
           {.grid = dim3(p.tokens),
            .block = dim3(kKeptThreads),
            .shared_bytes = std::max<std::size_t>(p.half, 1) * sizeof(Rotation)},
           l.stream, p);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::rope_room
