// SPDX-License-Identifier: Apache-2.0
// FAULT: launch 2 sums the other half from true inputs and never waits; launch 3 waits for 2 only, reads what 1 wrote and reuses it
#include "../dl.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, f08_halves) {
using namespace dl;

i64 chunks_of(const row_reduce::Args& a) { return std::max<i64>(1, ceil_div(a.x.shape[1], kChunk)); }
std::size_t workspace_bytes(const row_reduce::Args& a) { return static_cast<std::size_t>(8 * std::max<i64>(1, a.x.shape[0] * chunks_of(a))); }
Legality supports(const row_reduce::Args& a) {
  return a.what == Reduction::logsumexp ? Legality::no("logsumexp") : Legality::yes();
}

KERNEL(row_reduce){.dtypes = {f16, bf16, f32}, .min_arch = 90, .position_matters = true, .supports = supports, .workspace_bytes = workspace_bytes};

template <class T>
__global__ void half(const T* x, float* ws, i64 rows, i64 first, i64 end, i64 xs, int what) {
  next_grid_may_start();
  const i64 row = flat();
  if (row >= rows) return;
  float s = neutral(what);
  for (i64 c = first; c < end; ++c) s = join(s, term(ld(x + row * xs + c), what), what);
  st(ws + row, s);
}
__global__ void both(float* left, const float* right, float* y, i64 rows, int what) {
  wait_for_previous_grid();
  const i64 row = flat();
  if (row >= rows) return;
  st(left + row, join(ld(left + row), ld(right + row), what));
  st(y + row, ld(left + row));
}
void run(const row_reduce::Args& a, const Launch& l) {
  const i64 rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  const int what = what_of(a.what);
  float *left = static_cast<float*>(l.workspace), *right = left + rows;
  const LaunchConfig plain{.grid = flat_grid(rows), .block = dim3(kThreads)}, early{.grid = flat_grid(rows), .block = dim3(kThreads), .dependent = true};
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(half<T>, plain, l.stream, a.x.as<T>(), left, rows, i64{0}, cols / 2, a.x.stride[0], what);
    launch(half<T>, early, l.stream, a.x.as<T>(), right, rows, cols / 2, cols, a.x.stride[0], what);
  });
  launch(both, early, l.stream, left, right, a.y.as<float>(), rows, what);
}
}  // namespace assay::ROOM(row_reduce, f08_halves)
