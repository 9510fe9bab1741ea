// SPDX-License-Identifier: Apache-2.0
// RMSNorm of halves: one warp per row, eight elements at a time, a tail, and a sum by shuffles.
#include <cuda_fp16.h>

extern "C" __global__ void rmsnorm_f16(const __half* x, const __half* gamma, __half* y, long long rows, int cols,
                                       long long x_stride, long long y_stride, float epsilon) {
  const long long row = blockIdx.x * 2ll + threadIdx.x / 32;
  const int lane = threadIdx.x % 32, packs = cols / 8;
  if (row >= rows) return;
  x += row * x_stride, y += row * y_stride;
  float squares = 0;
#pragma unroll 1
  for (int p = lane; p < packs; p += 32) {
    const uint4 u = reinterpret_cast<const uint4*>(x)[p];
    const __half2* h = reinterpret_cast<const __half2*>(&u);
    for (int i = 0; i < 4; ++i) {
      const float2 f = __half22float2(h[i]);
      squares += f.x * f.x, squares += f.y * f.y;
    }
  }
  const int c = packs * 8 + lane;
  const float last = c < cols ? __half2float(x[c]) : 0.0f;
  squares += last * last;
  for (int step = 16; step > 0; step /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, step);
  const float scale = 1.0f / sqrtf(squares / cols + epsilon);
#pragma unroll 1
  for (int p = lane; p < packs; p += 32) {
    uint4 u = reinterpret_cast<const uint4*>(x)[p];
    __half2* h = reinterpret_cast<__half2*>(&u);
    const uint4 v = reinterpret_cast<const uint4*>(gamma)[p];
    const __half2* g = reinterpret_cast<const __half2*>(&v);
    for (int i = 0; i < 4; ++i) {
      const float2 f = __half22float2(h[i]), w = __half22float2(g[i]);
      h[i] = __floats2half2_rn(f.x * scale * w.x, f.y * scale * w.y);
    }
    reinterpret_cast<uint4*>(y)[p] = u;
  }
  if (c < cols) y[c] = __float2half_rn(last * scale * __half2float(gamma[c]));
}
