// SPDX-License-Identifier: Apache-2.0
// Cross entropy: one warp per token with a running maximum and sum that shuffles join, then one block for the mean.
__device__ void join(float& max, float& sum, float other_max, float other_sum) {
  const float m = other_max > max || other_max != other_max ? other_max : max;
  const float a = max == m ? sum : sum * expf(max - m), b = other_max == m ? other_sum : other_sum * expf(other_max - m);
  max = m, sum = a + b;
}

extern "C" __global__ void losses(const float* x, const int* target, float* loss, int tokens, int vocab, long long x_stride) {
  const int token = blockIdx.x * 2 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (token >= tokens) return;
  x += token * x_stride;
  float max = -INFINITY, sum = 0;
#pragma unroll 1
  for (int v = lane; v < vocab; v += 32) {
    const float value = x[v];
    if (value > max || value != value) {
      sum = sum * expf(max - value) + 1;
      max = value;
    } else if (max > -INFINITY || max != max) {
      sum += expf(value - max);
    }
  }
#pragma unroll 1
  for (int step = 16; step > 0; step /= 2)
    join(max, sum, __shfl_xor_sync(0xffffffffu, max, step), __shfl_xor_sync(0xffffffffu, sum, step));
  if (lane == 0) loss[token] = max == INFINITY || max == -INFINITY ? NAN : logf(sum) + (max - x[target[token]]);
}

extern "C" __global__ void mean_loss(const float* loss, float* mean, int tokens) {
  __shared__ float sums[2];
  float sum = 0;
#pragma unroll 1
  for (int t = threadIdx.x; t < tokens; t += 64) sum += loss[t];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) *mean = (sums[0] + sums[1]) / tokens;
}
