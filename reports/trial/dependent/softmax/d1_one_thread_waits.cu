// SPDX-License-Identifier: Apache-2.0
// DISPUTED: thread 0 waits, a block barrier follows
#include "../dl.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, d1_one_thread_waits) {
using namespace dl;

std::size_t workspace_bytes(const softmax::Args& a) { return two_a_row(a.x.shape[0]); }

KERNEL(softmax){.dtypes = {f16, bf16, f32}, .min_arch = 90, .tiles = {tile(Axis::rows, kRows)}, .workspace_bytes = workspace_bytes};

template <class T>
__global__ void normalise(const T* x, const float* stats, T* y, i64 rows, i64 cols, i64 xs, i64 ys) {
  if (threadIdx.x == 0) wait_for_previous_grid();
  sync_block();
  const i64 row = my_row();
  if (row >= rows) return;
  const float m = ld(stats + 2 * row), s = ld(stats + 2 * row + 1);
  for (i64 c = lane_id(); c < cols; c += kWarp) st(y + row * ys + c, from_float<T>(expf(to_float(ld(x + row * xs + c)) - m) / s));
}

void run(const softmax::Args& a, const Launch& l) {
  const i64 rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  float* stats = static_cast<float*>(l.workspace);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(softmax_stats<T, top>, {.grid = row_grid(rows), .block = dim3(kThreads)}, l.stream, a.x.as<T>(), stats, rows, cols, a.x.stride[0]);
    launch(normalise<T>, {.grid = row_grid(rows), .block = dim3(kThreads), .dependent = true}, l.stream, a.x.as<T>(), stats, a.y.as<T>(), rows, cols,
           a.x.stride[0], a.y.stride[0]);
  });
}
}  // namespace assay::ROOM(softmax, d1_one_thread_waits)
