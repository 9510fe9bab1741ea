// SPDX-License-Identifier: Apache-2.0
// Sums of rows by two warps: one fills two buffers in turn, the other adds; named barriers say which buffer is full or empty.
constexpr int kTile = 64;
__device__ void wait(int barrier) { asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory"); }
__device__ void arrive(int barrier) { asm volatile("bar.arrive %0, 64;" ::"r"(barrier) : "memory"); }

extern "C" __global__ void row_sum(const float* x, float* y, int cols, long long x_stride) {
  __shared__ float buffers[2][kTile];
  const int lane = threadIdx.x % 32, tiles = (cols + kTile - 1) / kTile;
  x += blockIdx.x * x_stride;
  if (threadIdx.x < 32) {
#pragma unroll 1
    for (int t = 0; t < tiles; ++t) {
      const int b = t % 2;
      if (t >= 2) wait(3 + b);
      for (int i = lane; i < kTile; i += 32) buffers[b][i] = t * kTile + i < cols ? x[t * kTile + i] : 0.0f;
      __threadfence_block();
      arrive(1 + b);
    }
    return;
  }
  float sum = 0;
#pragma unroll 1
  for (int t = 0; t < tiles; ++t) {
    const int b = t % 2;
    wait(1 + b);
    for (int i = lane; i < kTile; i += 32) sum += buffers[b][i];
    if (t + 2 < tiles) arrive(3 + b);
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (lane == 0) y[blockIdx.x] = sum;
}
