// SPDX-License-Identifier: Apache-2.0
// Shared by kernels that reduce the parts of a long row in one launch and join them in another, which begins early.
#pragma once

#include "cuda/row_reduce/row.cuh"

namespace assay::ASSAY_FLAVOUR::row_reduce_room {

inline constexpr std::size_t kFoldBytes = 8;  // size of the largest fold

// One thread per thing, rounded up to whole warps, and at most `most`.
inline dim3 threads_for(std::int64_t things, int most) {
  return dim3(kWarp * std::clamp<std::int64_t>(ceil_div(things, kWarp), 1, most / kWarp));
}
// Of the results of all parts; a row of one part needs none.
inline std::size_t bytes_of_parts(std::int64_t rows, std::int64_t parts) {
  return parts == 1 ? 0 : static_cast<std::size_t>(rows * parts) * kFoldBytes;
}
inline Legality parts_fit(std::int64_t rows, std::int64_t parts) {
  return rows * parts < std::int64_t{1} << 31 ? Legality::yes() : Legality::no("more parts than a grid has blocks");
}

// One block per row joins its parts, at most kMost a thread, always in the same order.
template <class Fold, int kThreads, int kMost>
__global__ void __launch_bounds__(kThreads) row_reduce_join(const Fold* results, float* y, int parts) {
  static_assert(sizeof(Fold) <= kFoldBytes);
  results += static_cast<std::int64_t>(blockIdx.x) * parts;
  wait_for_previous_grid();
  Fold part[kMost], f;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
#pragma unroll
  for (int k = 0; k < kMost; ++k)
    if (k * threads + thread < parts) part[k] = ld(results + (k * threads + thread));
#pragma unroll
  for (int k = 0; k < kMost; ++k)
    if (k * threads + thread < parts) f.join(part[k]);
  f = fold::join_block(f, shared_memory<Fold>());
  if (thread == 0) st(y + blockIdx.x, f.result());
}

template <int kThreads, int kMost, class Fold>
void launch_join(const Fold* results, const row_reduce::Args& a, std::int64_t parts, const Launch& l) {
  launch(row_reduce_join<Fold, kThreads, kMost>,
         {.grid = dim3(a.x.shape[0]),
          .block = threads_for(parts, kThreads),
          .shared_bytes = kWarp * sizeof(Fold),
          .dependent = true},
         l.stream, results, a.y.as<float>(), static_cast<int>(parts));
}

}  // namespace assay::ASSAY_FLAVOUR::row_reduce_room
