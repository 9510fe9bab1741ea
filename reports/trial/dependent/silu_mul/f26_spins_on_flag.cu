// SPDX-License-Identifier: Apache-2.0
// FAULT: launch 2 spins on a flag of launch 1 by atomics in place of the wait
#include "../dl.cuh"
#include "ops/silu_mul.hpp"

namespace assay::ROOM(silu_mul, f26_spins_on_flag) {
using namespace dl;

std::size_t workspace_bytes(const silu_mul::Args& a) { return static_cast<std::size_t>(4 * (a.y.size() + ceil_div(a.y.size(), kThreads) + 1)); }

KERNEL(silu_mul){.dtypes = {f16, bf16, f32}, .min_arch = 90, .tiles = {tile(Axis::rows, 1)}, .workspace_bytes = workspace_bytes};

__device__ inline float silu(float z) { if (z >= 0) return z / (1.0f + expf(-z)); const float e = expf(z); return z * e / (1.0f + e); }

// flags: an int a block, behind the values
template <class T>
__global__ void activate(const T* gate, float* ws, int* flags, i64 rows, i64 cols, i64 gs) {
  next_grid_may_start();
  if (threadIdx.x == 0) st(flags + blockIdx.x, 0);
  sync_block();
  const i64 i = flat();
  if (i < rows * cols) st(ws + i, silu(to_float(ld(gate + i / cols * gs + i % cols))));
  sync_block();
  if (threadIdx.x == 0) atomic_add(flags + blockIdx.x, 1);
}
template <class T>
__global__ void multiply(const float* ws, int* flags, const T* up, T* y, i64 rows, i64 cols, i64 us, i64 ys) {
  if (threadIdx.x == 0)
    while (atomic_add(flags + blockIdx.x, 0) == 0) {
    }
  sync_block();
  const i64 i = flat();
  if (i < rows * cols) st(y + i / cols * ys + i % cols, from_float<T>(ld(ws + i) * to_float(ld(up + i / cols * us + i % cols))));
}

void run(const silu_mul::Args& a, const Launch& l) {
  const i64 rows = a.y.shape[0], cols = a.y.shape[1], n = rows * cols;
  if (n == 0) return;
  float* ws = static_cast<float*>(l.workspace);
  int* flags = reinterpret_cast<int*>(ws + n);
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(activate<T>, {.grid = flat_grid(n), .block = dim3(kThreads), .dependent = false}, l.stream, a.gate.as<T>(), ws, flags, rows, cols, a.gate.stride[0]);
    launch(multiply<T>, {.grid = flat_grid(n), .block = dim3(kThreads), .dependent = true}, l.stream, ws, flags, a.up.as<T>(), a.y.as<T>(), rows, cols,
           a.up.stride[0], a.y.stride[0]);
  });
}
}  // namespace assay::ROOM(silu_mul, f26_spins_on_flag)
