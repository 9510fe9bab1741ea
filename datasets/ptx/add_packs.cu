// SPDX-License-Identifier: Apache-2.0
// Sums of two matrices: one block per row, accesses of 16 bytes, and a tail of single elements.
#include <cuda_fp16.h>

extern "C" __global__ void add_f32(const float* a, const float* b, float* y, long long cols, long long a_stride,
                                   long long b_stride, long long y_stride) {
  a += blockIdx.x * a_stride, b += blockIdx.x * b_stride, y += blockIdx.x * y_stride;
  const long long packs = cols / 4;
  for (long long p = threadIdx.x; p < packs; p += blockDim.x) {
    const float4 u = reinterpret_cast<const float4*>(a)[p], v = reinterpret_cast<const float4*>(b)[p];
    reinterpret_cast<float4*>(y)[p] = make_float4(u.x + v.x, u.y + v.y, u.z + v.z, u.w + v.w);
  }
  const long long c = packs * 4 + threadIdx.x;
  if (c < cols) y[c] = a[c] + b[c];
}

extern "C" __global__ void add_f16(const __half* a, const __half* b, __half* y, long long cols, long long a_stride,
                                   long long b_stride, long long y_stride) {
  a += blockIdx.x * a_stride, b += blockIdx.x * b_stride, y += blockIdx.x * y_stride;
  const long long packs = cols / 8;
  for (long long p = threadIdx.x; p < packs; p += blockDim.x) {
    uint4 u = reinterpret_cast<const uint4*>(a)[p], v = reinterpret_cast<const uint4*>(b)[p];
    __half2* s = reinterpret_cast<__half2*>(&u);
    const __half2* t = reinterpret_cast<const __half2*>(&v);
    for (int i = 0; i < 4; ++i) {
      const float2 f = __half22float2(s[i]), g = __half22float2(t[i]);
      s[i] = __floats2half2_rn(f.x + g.x, f.y + g.y);
    }
    reinterpret_cast<uint4*>(y)[p] = u;
  }
  const long long c = packs * 8 + threadIdx.x;
  if (c < cols) y[c] = __float2half_rn(__half2float(a[c]) + __half2float(b[c]));
}
