// SPDX-License-Identifier: Apache-2.0
// SOUND: launch 1 widens x; launch 2 asks for its row of weights by cp_async before the wait (a true input), then waits and multiplies
#include "../dl.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, s11_weights_ahead) {
using namespace dl;

inline constexpr int kMost = 1024;  // columns of the weight

std::size_t workspace_bytes(const linear::Args& a) { return static_cast<std::size_t>(4 * std::max<i64>(1, a.x.size())); }
Legality supports(const linear::Args& a) {
  if (a.x.dtype != f32) return Legality::no("f32 only");
  return a.x.shape[1] <= kMost ? Legality::yes() : Legality::no("at most 1024 channels");
}

KERNEL(linear){.dtypes = {f32}, .min_arch = 90, .tiles = {tile(Axis::out, 1)}, .supports = supports, .workspace_bytes = workspace_bytes};

__global__ void copy_x(const float* x, float* ws, i64 tokens, i64 hidden, i64 xs) {
  next_grid_may_start();
  const i64 i = flat();
  if (i < tokens * hidden) st(ws + i, ld(x + i / hidden * xs + i % hidden));
}
__global__ void multiply(const float* ws, const float* w, const float* bias, float* y, i64 tokens, i64 hidden, i64 w_stride, i64 ys) {  // a block a feature
  float* row = shared_memory<float>();
  const i64 o = blockIdx.x;
  for (i64 h = threadIdx.x; h < hidden; h += kThreads) cp_async<4>(row + h, w + o * w_stride + h);
  cp_async_commit();
  wait_for_previous_grid();
  cp_async_wait<0>();
  sync_block();
  for (i64 t = threadIdx.x; t < tokens; t += kThreads) {
    float s = 0;
    for (i64 h = 0; h < hidden; ++h) s = fmaf(ld(ws + t * hidden + h), ld(row + h), s);
    st(y + t * ys + o, bias ? s + ld(bias + o) : s);
  }
}
void run(const linear::Args& a, const Launch& l) {
  const i64 tokens = a.x.shape[0], hidden = a.x.shape[1], out = a.weight.shape[0];
  if (tokens * out == 0) return;
  float* ws = static_cast<float*>(l.workspace);
  launch(copy_x, {.grid = flat_grid(tokens * hidden), .block = dim3(kThreads)}, l.stream, a.x.as<float>(), ws, tokens, hidden, a.x.stride[0]);
  launch(multiply, {.grid = dim3(static_cast<unsigned>(out)), .block = dim3(kThreads), .shared_bytes = 4 * kMost, .dependent = true}, l.stream, ws,
         a.weight.as<float>(), a.has_bias ? a.bias.as<float>() : static_cast<float*>(nullptr), a.y.as<float>(), tokens, hidden, a.weight.stride[0],
         a.y.stride[0]);
}
}  // namespace assay::ROOM(linear, s11_weights_ahead)
