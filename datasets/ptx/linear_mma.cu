// SPDX-License-Identifier: Apache-2.0
// A product of halves on tensor cores: two warps, a tile of 32 tokens x 16 features, ldmatrix and mma.sync of 16 x 8 x 16.
#include <cuda_fp16.h>

constexpr int kTokens = 32, kOut = 16, kStep = 16, kPitch = 24;

__device__ unsigned place(const __half* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ void ldmatrix(unsigned* r, const __half* p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(place(p)) : "memory");
}
__device__ void mma(float* d, const unsigned* a, unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

extern "C" __global__ void linear_f16(const __half* x, const __half* weight, const __half* bias, __half* y, int tokens,
                                      int hidden, int out, long long x_stride, long long w_stride, long long y_stride) {
  __shared__ __align__(16) __half xs[kTokens][kPitch];
  __shared__ __align__(16) __half ws[kOut][kPitch];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, t0 = blockIdx.y * kTokens, o0 = blockIdx.x * kOut;
  const int col = threadIdx.x % kStep, first = threadIdx.x / kStep;
  float d[2][4] = {};
#pragma unroll 1
  for (int h0 = 0; h0 < hidden; h0 += kStep) {
    const bool inside = h0 + col < hidden;
#pragma unroll 1
    for (int r = first; r < kTokens; r += 4)
      xs[r][col] = inside && t0 + r < tokens ? x[(t0 + r) * x_stride + h0 + col] : __half();
#pragma unroll 1
    for (int r = first; r < kOut; r += 4)
      ws[r][col] = inside && o0 + r < out ? weight[(o0 + r) * w_stride + h0 + col] : __half();
    __syncthreads();
    unsigned a[4], b[4];
    ldmatrix(a, &xs[warp * 16 + lane % 16][lane / 16 * 8]);
    ldmatrix(b, &ws[lane % 8 + lane / 16 * 8][lane / 8 % 2 * 8]);
    mma(d[0], a, b[0], b[1]);
    mma(d[1], a, b[2], b[3]);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int t = t0 + warp * 16 + lane / 4 + i % 4 / 2 * 8, o = o0 + i / 4 * 8 + lane % 4 * 2 + i % 2;
    if (t >= tokens || o >= out) continue;
    const float b = bias != nullptr ? __half2float(bias[o]) : 0.0f;
    y[t * y_stride + o] = __float2half_rn(d[i / 4][i % 4] + b);
  }
}
