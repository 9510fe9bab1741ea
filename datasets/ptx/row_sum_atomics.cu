// SPDX-License-Identifier: Apache-2.0
// Sums of rows, or of their squares: the first launch clears y, in the second each block adds up to 512 columns of a row
// and adds its sum to y by an atomic addition.
extern "C" __global__ void clear_sums(float* y, long long rows) {
  const long long row = blockIdx.x * 64ll + threadIdx.x;
  if (row < rows) y[row] = 0;
}

extern "C" __global__ void add_parts(const float* x, float* y, long long cols, long long x_stride, int squared) {
  __shared__ float total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  x += blockIdx.y * x_stride;
  const long long first = blockIdx.x * 512ll, end = first + 512 < cols ? first + 512 : cols;
  float sum = 0;
#pragma unroll 1
  for (long long c = first + threadIdx.x; c < end; c += 64) sum += squared ? x[c] * x[c] : x[c];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) atomicAdd(&total, sum);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(y + blockIdx.y, total);
}
