// SPDX-License-Identifier: Apache-2.0
// One warp per row: the maximum, the sum and the quotients of a row of floats.  softmax.ptx is made of it by
// nvcc -O3 -arch=sm_80 -lineinfo -ptx softmax.cu
extern "C" __global__ void softmax_f32(const float* x, float* y, long long rows, long long cols, long long x_stride,
                                       long long y_stride) {
  const long long row = blockIdx.x * 4ll + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  x += row * x_stride;
  y += row * y_stride;
  float max = -INFINITY;
  for (long long c = lane; c < cols; c += 32) max = fmaxf(max, x[c]);
  for (int step = 16; step > 0; step /= 2) max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, step));
  float sum = 0;
  for (long long c = lane; c < cols; c += 32) sum += expf(x[c] - max);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  for (long long c = lane; c < cols; c += 32) y[c] = expf(x[c] - max) / sum;
}
