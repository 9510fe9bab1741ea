// SPDX-License-Identifier: Apache-2.0
// FAULT: the atomic additions to what launch 1 clears come before the wait
#include "../dl.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, f09_atomic_early) {
using namespace dl;

i64 chunks_of(const row_reduce::Args& a) { return std::max<i64>(1, ceil_div(a.x.shape[1], kChunk)); }
std::size_t workspace_bytes(const row_reduce::Args& a) { return static_cast<std::size_t>(8 * std::max<i64>(1, a.x.shape[0] * chunks_of(a))); }
Legality supports(const row_reduce::Args& a) {
  return a.what == Reduction::logsumexp || a.what == Reduction::max ? Legality::no("sums only") : Legality::yes();
}

KERNEL(row_reduce){.dtypes = {f16, bf16, f32}, .min_arch = 90, .deterministic = false, .position_matters = true, .numerics = {.flushes_storage = true}, .supports = supports, .workspace_bytes = workspace_bytes};

__global__ void clear(float* y, i64 rows) {
  next_grid_may_start();
  if (flat() < rows) st(y + flat(), 0.0f);
}
template <class T>
__global__ void add_up(const T* x, float* y, i64 rows, i64 cols, i64 chunks, i64 xs, int what) {
  const i64 i = flat();
  if (i >= rows * chunks) return;
  const i64 row = i / chunks, begin = i % chunks * kChunk;
  float s = 0;
  for (i64 c = begin; c < std::min<i64>(cols, begin + kChunk); ++c) s += term(ld(x + row * xs + c), what);
  atomic_add(y + row, s);
  wait_for_previous_grid();
}
void run(const row_reduce::Args& a, const Launch& l) {
  const i64 rows = a.x.shape[0], cols = a.x.shape[1], chunks = chunks_of(a);
  if (rows == 0) return;
  launch(clear, {.grid = flat_grid(rows), .block = dim3(kThreads)}, l.stream, a.y.as<float>(), rows);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(add_up<T>, {.grid = flat_grid(rows * chunks), .block = dim3(kThreads), .dependent = true}, l.stream, a.x.as<T>(), a.y.as<float>(), rows, cols,
           chunks, a.x.stride[0], what_of(a.what));
  });
}
}  // namespace assay::ROOM(row_reduce, f09_atomic_early)
