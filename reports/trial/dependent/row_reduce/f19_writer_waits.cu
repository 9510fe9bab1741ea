// SPDX-License-Identifier: Apache-2.0
// FAULT: a block joins the chunks of a row; only the thread that stores the result waits, the readers do not
#include "../dl.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, f19_writer_waits) {
using namespace dl;

i64 chunks_of(const row_reduce::Args& a) { return std::max<i64>(1, ceil_div(a.x.shape[1], kChunk)); }
std::size_t workspace_bytes(const row_reduce::Args& a) { return static_cast<std::size_t>(8 * std::max<i64>(1, a.x.shape[0] * chunks_of(a))); }
Legality supports(const row_reduce::Args& a) {
  return a.what == Reduction::logsumexp ? Legality::no("logsumexp") : Legality::yes();
}

KERNEL(row_reduce){.dtypes = {f16, bf16, f32}, .min_arch = 90, .position_matters = true, .supports = supports, .workspace_bytes = workspace_bytes};

__global__ void fold(const float* from, float* y, i64 chunks, int what) {  // a warp a row
  const i64 row = blockIdx.x;
  float s = neutral(what);
  for (i64 c = lane_id(); c < chunks; c += kWarp) s = join(s, ld(from + row * chunks + c), what);
  for (int offset = 16; offset > 0; offset /= 2) s = join(s, shuffle_xor(s, offset), what);
  if (lane_id() == 0) {
    wait_for_previous_grid();
    st(y + row, s);
  }
}
void run(const row_reduce::Args& a, const Launch& l) {
  const i64 rows = a.x.shape[0], cols = a.x.shape[1], chunks = chunks_of(a);
  if (rows == 0) return;
  const int what = what_of(a.what);
  float* parts = static_cast<float*>(l.workspace);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(chunk_sums<T, top>, {.grid = flat_grid(rows * chunks), .block = dim3(kThreads)}, l.stream, a.x.as<T>(), parts, rows, cols, chunks,
           a.x.stride[0], what);
  });
  launch(fold, {.grid = dim3(static_cast<unsigned>(rows)), .block = dim3(kWarp), .dependent = true}, l.stream, parts, a.y.as<float>(), chunks, what);
}
}  // namespace assay::ROOM(row_reduce, f19_writer_waits)
