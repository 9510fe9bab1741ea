// SPDX-License-Identifier: Apache-2.0
// SOUND: dependent first launch that waits, a plain launch that also calls the wait, a dependent one behind it
#include "../dl.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, s05_plain_between) {
using namespace dl;

i64 chunks_of(const row_reduce::Args& a) { return std::max<i64>(1, ceil_div(a.x.shape[1], kChunk)); }
std::size_t workspace_bytes(const row_reduce::Args& a) { return static_cast<std::size_t>(8 * std::max<i64>(1, a.x.shape[0] * chunks_of(a))); }
Legality supports(const row_reduce::Args& a) {
  return a.what == Reduction::logsumexp ? Legality::no("logsumexp") : Legality::yes();
}

KERNEL(row_reduce){.dtypes = {f16, bf16, f32}, .min_arch = 90, .position_matters = true, .supports = supports, .workspace_bytes = workspace_bytes};

template <class T>
__global__ void first(const T* x, float* ws, i64 rows, i64 cols, i64 chunks, i64 xs, int what) {
  wait_for_previous_grid();
  const i64 i = flat();
  if (i >= rows * chunks) return;
  const i64 row = i / chunks, begin = i % chunks * kChunk;
  float s = neutral(what);
  for (i64 c = begin; c < std::min<i64>(cols, begin + kChunk); ++c) s = join(s, term(ld(x + row * xs + c), what), what);
  st(ws + i, s);
  next_grid_may_start();
}
__global__ void fold(const float* from, float* to, i64 rows, i64 chunks, int what) {  // a thread a row
  wait_for_previous_grid();
  const i64 row = flat();
  if (row >= rows) return;
  float s = neutral(what);
  for (i64 c = 0; c < chunks; ++c) s = join(s, ld(from + row * chunks + c), what);
  st(to + row, s);
  next_grid_may_start();
}
void run(const row_reduce::Args& a, const Launch& l) {
  const i64 rows = a.x.shape[0], cols = a.x.shape[1], chunks = chunks_of(a);
  if (rows == 0) return;
  const int what = what_of(a.what);
  float *parts = static_cast<float*>(l.workspace), *folded = parts + rows * chunks;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(first<T>, {.grid = flat_grid(rows * chunks), .block = dim3(kThreads), .dependent = true}, l.stream, a.x.as<T>(), parts, rows, cols, chunks,
           a.x.stride[0], what);
  });
  launch(fold, {.grid = flat_grid(rows), .block = dim3(kThreads)}, l.stream, parts, folded, rows, chunks, what);
  launch(fold, {.grid = flat_grid(rows), .block = dim3(kThreads), .dependent = true}, l.stream, folded, a.y.as<float>(), rows, i64{1}, what);
}
}  // namespace assay::ROOM(row_reduce, s05_plain_between)
