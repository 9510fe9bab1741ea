// SPDX-License-Identifier: Apache-2.0
// LayerNorm: one block per row, mean and variance in two passes, each summed over the block in shared memory.
#include <cuda_fp16.h>

constexpr int kThreads = 128;
__device__ float number(float x) { return x; }
__device__ float number(__half x) { return __half2float(x); }
__device__ void put(float* y, float v) { *y = v; }
__device__ void put(__half* y, float v) { *y = __float2half_rn(v); }

__device__ float block_sum(float v, float* sums) {
  sums[threadIdx.x] = v;
  __syncthreads();
#pragma unroll 1
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  const float sum = sums[0];
  __syncthreads();
  return sum;
}

template <class T>
__device__ void norm(const T* x, const T* gamma, const T* beta, T* y, int cols, long long x_stride, long long y_stride,
                     float epsilon) {
  __shared__ float sums[kThreads];
  x += blockIdx.x * x_stride, y += blockIdx.x * y_stride;
  float sum = 0, squares = 0;
#pragma unroll 1
  for (int c = threadIdx.x; c < cols; c += kThreads) sum += number(x[c]);
  const float mean = block_sum(sum, sums) / cols;
#pragma unroll 1
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    const float d = number(x[c]) - mean;
    squares += d * d;
  }
  const float scale = 1.0f / sqrtf(block_sum(squares, sums) / cols + epsilon);
#pragma unroll 1
  for (int c = threadIdx.x; c < cols; c += kThreads)
    put(y + c, (number(x[c]) - mean) * scale * number(gamma[c]) + number(beta[c]));
}

extern "C" __global__ void layernorm_f32(const float* x, const float* gamma, const float* beta, float* y, int cols,
                                         long long x_stride, long long y_stride, float epsilon) {
  norm(x, gamma, beta, y, cols, x_stride, y_stride, epsilon);
}
extern "C" __global__ void layernorm_f16(const __half* x, const __half* gamma, const __half* beta, __half* y, int cols,
                                         long long x_stride, long long y_stride, float epsilon) {
  norm(x, gamma, beta, y, cols, x_stride, y_stride, epsilon);
}
