// SPDX-License-Identifier: Apache-2.0
// The device layer: the only words a kernel uses for the machine it runs on.  Two halves give them meaning:
// cuda/core/device_gpu.cuh under nvcc, simt/device.hpp under a plain C++ compiler.  Kernel bodies have no #ifdef.
//
//   __global__ __device__ __launch_bounds__  threadIdx blockIdx blockDim gridDim     as in CUDA C++
//   half bfloat16, Vec<T, N>                 element types; N of them as one aligned access of up to 16 bytes
//   to_float(T)  from_float<T>(float)        exact; rounded to nearest even
//   from_floats<T>(float (&)[N])             a Vec<T, N> of them
//   ld(p) st(p, v)                           one access of sizeof(T) = 1, 2, 4, 8 or 16 bytes, global or shared memory;
//                                            p is aligned to it.  Counted, bounds-checked and watched on simt
//   shared_memory<T>(byte_offset = 0)        T* into the block's one dynamic shared arena, which starts 128-byte aligned
//   sync_block()  sync_warp(mask = all)      barriers
//   sync_named(id, threads)                  barrier `id` (1..15) of `threads` threads, a multiple of the warp
//   lane_id() warp_id() kWarp kAllLanes      x-major numbering within the block
//   shuffle(v, lane, mask) shuffle_xor(v, lane_mask, mask) shuffle_down(v, delta, mask) shuffle_up(v, delta, mask)
//   ballot(p, mask) any(p, mask) all(p, mask)
//   atomic_add(p, v)                         float, int, unsigned, unsigned long long; returns the old value
//   launch(kernel, {.grid, .block, .shared_bytes}, stream, args...)   host side; throws when the launch is refused
//
// Tensor cores, for T = half and bfloat16.  A word holds two values, the one of the lower index in its low half.
//   mma_m16n8k16<T>(c, a, b)                 c += a·b of a whole warp: float c[4], words a[4], b[2] a lane (sm_80)
//   mma_m16n8k8<T>(c, a, b)                  float c[4], words a[2], b[1] (half: sm_75, bfloat16: sm_80)
//                                            lane 4g + t holds, of each word the pair k and k + 1,
//                                              a[i]: row g + 8 (i % 2), k = 2t + 8 (i / 2)     b[i]: k = 2t + 8i, column g
//                                              c[i]: row g + 8 (i / 2), column 2t + i % 2
//   ldmatrix<N>(r, row) ldmatrix_trans<N>(r, row)   N = 1, 2, 4 matrices of 8x8 values from shared memory: lane 8j + i gives
//                                            the address of the 16 bytes that are row i of matrix j; lane 4g + t gets in
//                                            r[j] row g, columns 2t and 2t + 1; with trans column g, rows 2t and 2t + 1
//   cp_async<Bytes>(shared, global, valid = Bytes)   a copy of 4, 8 or 16 aligned bytes that goes on by itself; those from
//                                            `valid` on become zero and are not read
//   cp_async_commit() cp_async_wait<N>()     the calling thread's copies since its last commit become a group; until at
//                                            most its N newest groups are still on their way
//   pack<T>(low, high) unpack<T>(word) multiply_packed<T>(word, word)   each result rounded once, to nearest even
//   exp2_approx(v)                           2^v with a relative error below 2^-22, subnormals as zero (ex2.approx.ftz.f32)
//
// Arithmetic is plain C++ on float, with fmaf, sqrtf, fmaxf, ... of <cmath>; contraction is off on simt, so write fmaf
// where it matters.
#pragma once

#if defined(__CUDACC__)
#define ASSAY_FLAVOUR on_gpu
#include "cuda/core/device_gpu.cuh"
#else
#define ASSAY_FLAVOUR on_simt
#include "device.hpp"
namespace assay::on_simt {
using namespace simt::device;
}
#endif
