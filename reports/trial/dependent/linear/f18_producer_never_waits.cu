// SPDX-License-Identifier: Apache-2.0
// FAULT: two warps copy to shared memory and do not wait; the two that add do
#include "../dl.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, f18_producer_never_waits) {
using namespace dl;

// 4 partial products of each element, 4 floats of padding so that the next region stays aligned, and as much again.
std::size_t workspace_bytes(const linear::Args& a) { return static_cast<std::size_t>(4 * 2 * (kSplits * a.y.size() + 8)); }

KERNEL(linear){.dtypes = {f16, bf16, f32}, .min_arch = 90, .position_matters = true, .tiles = {tile(Axis::tokens, 1)}, .workspace_bytes = workspace_bytes};


template <class T>
__global__ void finish(const float* parts, float* own, const T* bias, T* y, i64 tokens, i64 out, i64 ys) {
  float* ring = shared_memory<float>();  // [kSplits][64]
  const i64 n = tokens * out, base = static_cast<i64>(blockIdx.x) * kThreads;
  const int half = kThreads / 2, me = static_cast<int>(threadIdx.x) % half;
  for (int pass = 0; pass < 2; ++pass) {
    const i64 i = base + pass * half + me;
    if (threadIdx.x >= half) {
      for (int k = 0; k < kSplits; ++k) st(ring + k * half + me, i < n ? ld(parts + k * n + i) : 0.0f);
    } else if (pass == 0) {
      wait_for_previous_grid();
    }
    sync_block();
    if (threadIdx.x < half && i < n) {
      float s = 0;
      for (int k = 0; k < kSplits; ++k) s += ld(ring + k * half + me);
      if (bias) s += to_float(ld(bias + i % out));
      st(y + i / out * ys + i % out, from_float<T>(s));
    }
    sync_block();
  }
}

void run(const linear::Args& a, const Launch& l) {
  const i64 tokens = a.x.shape[0], hidden = a.x.shape[1], out = a.weight.shape[0], n = tokens * out;
  if (n == 0) return;
  float *parts = static_cast<float*>(l.workspace), *own = parts + kSplits * n;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(partial_products<T, top>, {.grid = flat_grid(n * kSplits), .block = dim3(kThreads)}, l.stream, a.x.as<T>(), a.weight.as<T>(), parts, tokens,
           hidden, out, a.x.stride[0], a.weight.stride[0]);
    
    launch(finish<T>, {.grid = flat_grid(n), .block = dim3(kThreads), .shared_bytes = 4 * kSplits * kThreads / 2, .dependent = true}, l.stream, parts, own,
           a.has_bias ? a.bias.as<T>() : static_cast<T*>(nullptr), a.y.as<T>(), tokens, out, a.y.stride[0]);
  });
}
}  // namespace assay::ROOM(linear, f18_producer_never_waits)
