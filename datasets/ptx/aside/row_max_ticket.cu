// SPDX-License-Identifier: Apache-2.0
// Maxima of rows in one launch of several blocks per row: each block keeps its maximum in the workspace and draws a ticket,
// and the block with the last ticket joins the parts.  A launch before it clears the tickets.
constexpr int kParts = 4;

extern "C" __global__ void clear_tickets(unsigned* tickets, int rows) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row < rows) tickets[row] = 0;
}

__device__ float larger(float a, float b) { return a > b || a != a ? a : b; }

extern "C" __global__ void max_parts(const float* x, float* y, unsigned* tickets, float* parts, int cols, long long x_stride) {
  __shared__ float maxima[2];
  __shared__ unsigned ticket;
  const int row = blockIdx.y, part = blockIdx.x, lane = threadIdx.x % 32;
  x += row * x_stride;
  float max = -INFINITY;
#pragma unroll 1
  for (int c = part * 64 + threadIdx.x; c < cols; c += kParts * 64) max = larger(x[c], max);
  for (int step = 16; step > 0; step /= 2) max = larger(__shfl_xor_sync(0xffffffffu, max, step), max);
  if (lane == 0) maxima[threadIdx.x / 32] = max;
  __syncthreads();
  if (threadIdx.x == 0) {
    __stcg(parts + row * kParts + part, larger(maxima[0], maxima[1]));
    __threadfence();
    ticket = atomicAdd(tickets + row, 1u);
    __threadfence();
  }
  __syncthreads();
  if (ticket != kParts - 1 || threadIdx.x >= 32) return;
  max = lane < kParts ? __ldcg(parts + row * kParts + lane) : -INFINITY;
  for (int step = 2; step > 0; step /= 2) max = larger(__shfl_xor_sync(0xffffffffu, max, step), max);
  if (lane == 0) y[row] = max;
}
