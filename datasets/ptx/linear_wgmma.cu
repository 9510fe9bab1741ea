// SPDX-License-Identifier: Apache-2.0
// A product of halves for sm_90a: one thread of the first warpgroup copies boxes into a ring of three stages.  The others
// multiply tiles of 128 tokens x 32 features by wgmma, 64 tokens each, and store them as boxes.  A block takes every other tile
// of a row.
#include <cuda.h>
#include <cuda_fp16.h>

constexpr int kTokens = 128, kOut = 32, kStep = 64, kStages = 3;
constexpr int kBytesX = kTokens * kStep * 2, kStage = kBytesX + kOut * kStep * 2, kResult = 64 * kOut * 2;
constexpr int kBarriers = kStages * kStage + 2 * kResult;

__device__ void barrier_init(unsigned b, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(arrivals) : "memory");
}
__device__ void arrive(unsigned b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(b) : "memory"); }
__device__ void arrive_expect(unsigned b, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(bytes) : "memory");
}
__device__ void wait(unsigned b, unsigned parity) {
  asm volatile(
      "{ .reg .pred over;\n"
      "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
      "@!over bra AGAIN; }" ::"r"(b),
      "r"(parity)
      : "memory");
}
__device__ void copy_box(unsigned to, const CUtensorMap* map, int x, int y, unsigned b) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(b)
      : "memory");
}
__device__ unsigned long long descriptor(unsigned at) { return (at & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62; }
__device__ void multiply(float (&d)[16], unsigned long long a, unsigned long long b, int keep) {
  asm volatile(
      "{ .reg .pred p;\n setp.ne.b32 p, %18, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14,"
      " %15}, %16, %17, p, 1, 1, 0, 0; }"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),
        "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
      : "l"(a), "l"(b), "r"(keep));
}

extern "C" __global__ void __launch_bounds__(384, 1)
    linear_f16(const __grid_constant__ CUtensorMap x, const __grid_constant__ CUtensorMap weight,
               const __grid_constant__ CUtensorMap y, const __half* bias, int hidden, int out) {
  extern __shared__ __align__(1024) unsigned char memory[];
  const int steps = (hidden + kStep - 1) / kStep, tiles = (out + kOut - 1) / kOut, thread = threadIdx.x % 128,
            me = static_cast<int>(threadIdx.x) / 128 - 1;
  const unsigned arena = static_cast<unsigned>(__cvta_generic_to_shared(memory)),
                 result = arena + kStages * kStage + me * kResult, full = arena + kBarriers, empty = full + 8 * kStages;
  if (threadIdx.x == 0) {
#pragma unroll 1
    for (int s = 0; s < kStages; ++s) barrier_init(full + 8 * s, 1), barrier_init(empty + 8 * s, 2);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x != 0) return;
    int s = 0, phase = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x)
#pragma unroll 1
      for (int k = 0; k < steps; ++k) {
        wait(empty + 8 * s, phase ^ 1);
        arrive_expect(full + 8 * s, kStage);
        copy_box(arena + s * kStage, &x, k * kStep, blockIdx.y * kTokens, full + 8 * s);
        copy_box(arena + s * kStage + kBytesX, &weight, k * kStep, tile * kOut, full + 8 * s);
        if (++s == kStages) s = 0, phase ^= 1;
      }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  int s = 0, phase = 0;
  float d[16];
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    int before = -1;
#pragma unroll 1
    for (int k = 0; k < steps; ++k) {
      wait(full + 8 * s, phase);
      const unsigned stage = arena + s * kStage;
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int j = 0; j < kStep / 16; ++j)
        multiply(d, descriptor(stage + me * 8192 + 32 * j), descriptor(stage + kBytesX + 32 * j), k != 0 || j != 0);
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      if (before >= 0) {
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (thread == 0) arrive(empty + 8 * before);
      }
      before = s;
      if (++s == kStages) s = 0, phase ^= 1;
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (thread == 0) {
      arrive(empty + 8 * before);
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    asm volatile("bar.sync %0, 128;" ::"r"(1 + me) : "memory");
    // Rows of 64 bytes, whose 16-byte chunks are exchanged as by a swizzle of 64 bytes.
#pragma unroll
    for (int q = 0; q < 2; ++q) {
      unsigned words[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int o = tile * kOut + 16 * q + i / 2 * 8 + thread % 4 * 2;
        const float b0 = bias != nullptr && o < out ? __half2float(bias[o]) : 0.0f,
                    b1 = bias != nullptr && o + 1 < out ? __half2float(bias[o + 1]) : 0.0f;
        const __half2 pair = __floats2half2_rn(d[8 * q + 2 * i] + b0, d[8 * q + 2 * i + 1] + b1);
        words[i] = *reinterpret_cast<const unsigned*>(&pair);
      }
      const int row = thread / 32 * 16 + thread % 16, chunk = 2 * q + thread % 32 / 16;
      asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(result + row * 64 +
                                                                                            ((chunk ^ row / 2 % 4) << 4)),
                   "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
                   : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("bar.sync %0, 128;" ::"r"(1 + me) : "memory");
    if (thread == 0) {
      asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&y), "r"(tile * kOut),
                   "r"(blockIdx.y * kTokens + me * 64), "r"(result)
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  if (thread == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
