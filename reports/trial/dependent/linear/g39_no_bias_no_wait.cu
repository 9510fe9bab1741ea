// SPDX-License-Identifier: Apache-2.0
// FAULT: the launch between adds the bias to part 0, and without a bias all its threads return before the wait; the last launch waits for it alone
#include "../dl.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, g39_no_bias_no_wait) {
using namespace dl;

// 4 partial products of each element, 4 floats of padding so that the next region stays aligned, and as much again.
std::size_t workspace_bytes(const linear::Args& a) { return static_cast<std::size_t>(4 * 2 * (kSplits * a.y.size() + 8)); }

KERNEL(linear){.dtypes = {f16, bf16, f32}, .min_arch = 90, .position_matters = true, .tiles = {tile(Axis::tokens, 1)}, .workspace_bytes = workspace_bytes};

template <class T>
__global__ void add_bias(float* parts, const T* bias, i64 n, i64 out) {
  next_grid_may_start();
  if (!bias) return;
  wait_for_previous_grid();
  if (flat() < n) st(parts + flat(), ld(parts + flat()) + to_float(ld(bias + flat() % out)));
}

template <class T>
__global__ void finish(const float* parts, float* own, const T* bias, T* y, i64 tokens, i64 out, i64 ys) {
  wait_for_previous_grid();
  const i64 i = flat(), n = tokens * out;
  if (i >= n) return;
  float s = 0;
  for (int k = 0; k < kSplits; ++k) s += ld(parts + k * n + i);
  st(y + i / out * ys + i % out, from_float<T>(s));
}

void run(const linear::Args& a, const Launch& l) {
  const i64 tokens = a.x.shape[0], hidden = a.x.shape[1], out = a.weight.shape[0], n = tokens * out;
  if (n == 0) return;
  float *parts = static_cast<float*>(l.workspace), *own = parts + kSplits * n;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(partial_products<T, top>, {.grid = flat_grid(n * kSplits), .block = dim3(kThreads)}, l.stream, a.x.as<T>(), a.weight.as<T>(), parts, tokens,
           hidden, out, a.x.stride[0], a.weight.stride[0]);
    launch(add_bias<T>, {.grid = flat_grid(n), .block = dim3(kThreads), .dependent = true}, l.stream, parts, a.has_bias ? a.bias.as<T>() : static_cast<T*>(nullptr), n, out);
    launch(finish<T>, {.grid = flat_grid(n), .block = dim3(kThreads), .shared_bytes = 0, .dependent = true}, l.stream, parts, own,
           a.has_bias ? a.bias.as<T>() : static_cast<T*>(nullptr), a.y.as<T>(), tokens, out, a.y.stride[0]);
  });
}
}  // namespace assay::ROOM(linear, g39_no_bias_no_wait)
