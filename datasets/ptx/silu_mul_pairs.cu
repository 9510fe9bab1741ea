// SPDX-License-Identifier: Apache-2.0
// The gated product of halves: pairs of 4 bytes, and a single element at the end of a row of odd length.
#include <cuda_fp16.h>

__device__ float gated(float g, float u) { return g / (1.0f + expf(-g)) * u; }

extern "C" __global__ void silu_mul_f16(const __half* gate, const __half* up, __half* y, int cols, long long gate_stride,
                                        long long up_stride, long long y_stride) {
  const long long row = blockIdx.y;
  gate += row * gate_stride, up += row * up_stride, y += row * y_stride;
  const int c = (blockIdx.x * 64 + threadIdx.x) * 2;
  if (c + 1 < cols) {
    const float2 g = __half22float2(*reinterpret_cast<const __half2*>(gate + c));
    const float2 u = __half22float2(*reinterpret_cast<const __half2*>(up + c));
    *reinterpret_cast<__half2*>(y + c) = __floats2half2_rn(gated(g.x, u.x), gated(g.y, u.y));
  } else if (c < cols) {
    y[c] = __float2half_rn(gated(__half2float(gate[c]), __half2float(up[c])));
  }
}
