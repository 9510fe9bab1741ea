// SPDX-License-Identifier: Apache-2.0
// The launcher of rmsnorm_gemm.c for a GPU, in plain CUDA: it enqueues its kernel on the stream.  The plugin's file is the same.
//   nvcc -O2 -arch=native -shared -Xcompiler -fPIC -I include rmsnorm_gemm.cu rmsnorm_gemm_plugin.c -o libfused.so
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int kThreads = 256, kWarps = kThreads / 32;

__device__ float sum_of_warp(float v) {
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffffu, v, offset);
  return v;
}

// One block a token: all warps sum the squares, then each computes every kWarps-th output.
__global__ void fused(const half* x, const half* gamma, const half* weight, half* y, int hidden, int out, float epsilon) {
  __shared__ float of_warp[kWarps];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  x += static_cast<long long>(blockIdx.x) * hidden;
  y += static_cast<long long>(blockIdx.x) * out;
  float squares = 0;
  for (int h = threadIdx.x; h < hidden; h += kThreads) squares += __half2float(x[h]) * __half2float(x[h]);
  squares = sum_of_warp(squares);
  if (lane == 0) of_warp[warp] = squares;
  __syncthreads();
  squares = 0;
  for (int w = 0; w < kWarps; ++w) squares += of_warp[w];
  const float r = 1 / sqrtf(squares / static_cast<float>(hidden) + epsilon);
  for (int o = warp; o < out; o += kWarps) {
    const half* const row = weight + static_cast<long long>(o) * hidden;
    float sum = 0;
    for (int h = lane; h < hidden; h += 32) sum += __half2float(x[h]) * r * __half2float(gamma[h]) * __half2float(row[h]);
    sum = sum_of_warp(sum);
    if (lane == 0) y[o] = __float2half_rn(sum);
  }
}

extern "C" int cuda_fused_rmsnorm_gemm_fp16(const half* x, const half* gamma, const half* weight, half* y, int tokens, int hidden,
                                            int out, float epsilon, void* stream) {
  if (hidden < 1) return cudaErrorInvalidValue;
  if (tokens == 0 || out == 0) return cudaSuccess;
  fused<<<tokens, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(x, gamma, weight, y, hidden, out, epsilon);
  return cudaGetLastError();
}
