// SPDX-License-Identifier: Apache-2.0
// The steps of one_batch.cu (core/kernel_family.cuh) for any layout: a block a part of a row, and a launch that begins early and
// joins the parts.
#pragma once

#include "cuda/core/kernel_family.cuh"
#include "cuda/row_reduce/row.cuh"

namespace assay::ASSAY_FLAVOUR::row_reduce_room {

inline constexpr int kPartThreads = 64, kJoinThreads = 32;
inline constexpr std::int64_t kPart = 256;      // columns
inline constexpr std::size_t kResultBytes = 8;  // size of the largest fold

// Every step as it should be.
template <class T>
struct Parts {
  // How many columns of the part are taken.
  __device__ static std::int64_t count(std::int64_t cols, std::int64_t part) {
    return cols - part * kPart < kPart ? cols - part * kPart : kPart;
  }
  __device__ static void wait() { wait_for_previous_grid(); }
  // Joins a thread's parts.
  template <class Fold>
  __device__ static Fold joined(const Fold* results, int parts) {
    Fold f;
    for (int p = static_cast<int>(threadIdx.x); p < parts; p += kJoinThreads) f.join(ld(results + p));
    return f;
  }
};

inline std::int64_t parts_of(std::int64_t cols) { return std::max<std::int64_t>(ceil_div(cols, kPart), 1); }

template <class T, class Fold, class F>
__global__ void row_reduce_parts(const T* x, Fold* results, std::int64_t parts, std::int64_t cols, std::int64_t stride) {
  next_grid_may_start();
  const std::int64_t row = blockIdx.x / parts, part = blockIdx.x % parts;
  Fold f;
  fold::take_packs<4, 1>(f, x + row * stride + part * kPart, threadIdx.x, F::count(cols, part), kPartThreads);
  f = fold::join_block(f, shared_memory<Fold>());
  if (threadIdx.x == 0) st(results + blockIdx.x, f);
}

template <class Fold, class F>
__global__ void row_reduce_joined(const Fold* results, float* y, int parts) {
  F::wait();
  Fold f = F::joined(results + static_cast<std::int64_t>(blockIdx.x) * parts, parts);
  f = fold::join_block(f, shared_memory<Fold>());
  if (threadIdx.x == 0) st(y + blockIdx.x, f.result());
}

inline std::size_t parts_bytes(const row_reduce::Args& a) {
  return static_cast<std::size_t>(a.x.shape[0] * parts_of(a.x.shape[1])) * kResultBytes;
}

// A thread adds 256 / 64 = 4 columns of its part, with 10 joins in the block; then a 32nd of the parts, at most cols / (32 * 256)
// and one more, with 10 joins.
template <template <class> class F>
constexpr KernelTraits<row_reduce> parts_traits(DTypes dtypes = kEveryType) {
  return {.dtypes = dtypes,
          .tiles = {tile(Axis::cols, kPart)},
          .numerics = {.accumulate = f32,
                       .chain = {.lanes = kJoinThreads * kPart, .extra = 25},
                       .rescales = {.lanes = kJoinThreads * kPart, .extra = 25}},
          .workspace_bytes = parts_bytes};
}

template <template <class> class F>
void run_parts(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1], parts = parts_of(cols);
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    with_fold(a.what, [&]<class Fold>(Type<Fold>) {
      static_assert(sizeof(Fold) <= kResultBytes);
      Fold* const results = static_cast<Fold*>(l.workspace);
      constexpr std::size_t kShared = kWarp * sizeof(Fold);
      launch(row_reduce_parts<T, Fold, F<T>>, {.grid = dim3(rows * parts), .block = dim3(kPartThreads), .shared_bytes = kShared},
             l.stream, a.x.as<T>(), results, parts, cols, a.x.stride[0]);
      launch(row_reduce_joined<Fold, F<T>>,
             {.grid = dim3(rows), .block = dim3(kJoinThreads), .shared_bytes = kShared, .dependent = true}, l.stream, results,
             a.y.as<float>(), static_cast<int>(parts));
    });
  });
}

}  // namespace assay::ASSAY_FLAVOUR::row_reduce_room
