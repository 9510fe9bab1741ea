// SPDX-License-Identifier: Apache-2.0
// FAULT (WAR): each launch clears its destination before the wait; the launch before still reads that buffer
#include "../dl.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, f05_ping_pong_clears) {
using namespace dl;

i64 chunks_of(const row_reduce::Args& a) { return std::max<i64>(1, ceil_div(a.x.shape[1], kChunk)); }
std::size_t workspace_bytes(const row_reduce::Args& a) { return static_cast<std::size_t>(8 * std::max<i64>(1, a.x.shape[0] * chunks_of(a))); }
Legality supports(const row_reduce::Args& a) {
  return a.what == Reduction::logsumexp ? Legality::no("logsumexp") : Legality::yes();
}

KERNEL(row_reduce){.dtypes = {f16, bf16, f32}, .min_arch = 90, .position_matters = true, .supports = supports, .workspace_bytes = workspace_bytes};

// Joins pairs: to[row][i] = from[row][2i], from[row][2i + 1].
__global__ void pairs(const float* from, float* to, i64 rows, i64 n, i64 half, int what) {
  next_grid_may_start();
  const i64 i = flat();
  if (i >= rows * half) return;
  st(to + i, neutral(what));
  wait_for_previous_grid();
  const i64 row = i / half, at = row * n + 2 * (i % half);
  for (i64 k = 0; k < 2 && 2 * (i % half) + k < n; ++k) st(to + i, join(ld(to + i), ld(from + at + k), what));
}

void run(const row_reduce::Args& a, const Launch& l) {
  const i64 rows = a.x.shape[0], cols = a.x.shape[1], chunks = chunks_of(a);
  if (rows == 0) return;
  const int what = what_of(a.what);
  float *from = static_cast<float*>(l.workspace), *to = from + rows * chunks;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(chunk_sums<T, top>, {.grid = flat_grid(rows * chunks), .block = dim3(kThreads)}, l.stream, a.x.as<T>(), from, rows, cols, chunks,
           a.x.stride[0], what);
  });
  i64 n = chunks;
  for (; n > 1; n = (n + 1) / 2, std::swap(from, to))
    launch(pairs, {.grid = flat_grid(rows * ((n + 1) / 2)), .block = dim3(kThreads), .dependent = true}, l.stream, from, to, rows, n, (n + 1) / 2, what);
  launch(pairs, {.grid = flat_grid(rows), .block = dim3(kThreads), .dependent = true}, l.stream, from, a.y.as<float>(), rows, i64{1}, i64{1}, what);
}
}  // namespace assay::ROOM(row_reduce, f05_ping_pong_clears)
