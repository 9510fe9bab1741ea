// SPDX-License-Identifier: Apache-2.0
// The device layer: the only words that a kernel uses for the machine it runs on.  cuda/core/device_gpu.cuh defines them under
// nvcc, simt/device.hpp under a plain C++ compiler, so kernel bodies have no #ifdef.
//
//   __global__ __device__ __launch_bounds__  threadIdx blockIdx blockDim gridDim     as in CUDA C++
//   half bfloat16, Vec<T, N>                 element types; N of them as one aligned access of up to 16 bytes
//   to_float(T)  from_float<T>(float)        exact; rounded to nearest even
//   from_floats<T>(float (&)[N])             a Vec<T, N> of N rounded values
//   ld(p) st(p, v)                           one access of sizeof(T) = 1, 2, 4, 8 or 16 bytes of global or shared memory;
//                                            p must be aligned to it.  On simt it is counted, bounds-checked and watched
//   prefetch(p)                              fetches what lies at p in global memory into the L2 cache; reads and checks nothing
//   shared_memory<T>(byte_offset = 0)        T* into the block's dynamic shared memory, which starts 128-byte aligned
//   sync_block()  sync_warp(mask = all)      barriers
//   sync_named(id, threads)                  barrier `id` (1..15) of `threads` threads, a multiple of 32
//   lane_id() warp_id() kWarp kAllLanes      x-major numbering within the block
//   shuffle(v, lane, mask) shuffle_xor(v, lane_mask, mask) shuffle_down(v, delta, mask) shuffle_up(v, delta, mask)
//   butterfly(v, f)                          joins the values of all 32 lanes: v = f(v, shuffle_xor(v, n)) for n = 16, 8, 4, 2, 1
//   ballot(p, mask) any(p, mask) all(p, mask)
//   atomic_add(p, v)                         float, int, unsigned, unsigned long long; returns the old value
//   launch(kernel, {.grid, .block, .shared_bytes}, stream, args...)   host side; throws if the launch is refused
//   launch(kernel, {..., .dependent = true}, ...)    sm_90: it may begin before the launch before it on the stream has ended
//   next_grid_may_start()                    the launch after this one, if it is dependent, may begin once all blocks have
//                                            called it or ended.  Does nothing below sm_90
//   wait_for_previous_grid()                 waits until the launch before this one has ended.  Until then a thread of a
//                                            dependent launch reads nothing that a launch wrote, and writes no global memory.
//                                            One thread may wait for all that synchronise with it afterwards
//
// Tensor cores, for T = half and bfloat16.  An unsigned holds two values, the one of lower index in its low half.
//   mma_m16n8k16<T>(c, a, b)                 c += a·b by a whole warp: float c[4], unsigned a[4], b[2] a lane (sm_80)
//   mma_m16n8k8<T>(c, a, b)                  float c[4], unsigned a[2], b[1] (half: sm_75, bfloat16: sm_80)
//                                            lane 4g + t holds (an unsigned has the pair k, k + 1)
//                                              a[i]: row g + 8 (i % 2), k = 2t + 8 (i / 2)     b[i]: k = 2t + 8i, column g
//                                              c[i]: row g + 8 (i / 2), column 2t + i % 2
//   ldmatrix<N>(r, row) ldmatrix_trans<N>(r, row)   loads N = 1, 2, 4 matrices of 8x8 values from shared memory: lane 8j + i
//                                            gives the address of the 16 bytes of row i of matrix j; lane 4g + t gets in
//                                            r[j] row g, columns 2t and 2t + 1; with trans column g, rows 2t and 2t + 1
//   cp_async<Bytes>(shared, global, valid = Bytes)   starts an asynchronous copy of 4, 8 or 16 aligned bytes; those from
//                                            `valid` on become zero and are not read
//   cp_async_commit() cp_async_wait<N>()     commit makes a group of the thread's copies since its last commit; wait blocks
//                                            until at most the thread's N newest groups are in flight
//   pack<T>(low, high) unpack<T>(word) multiply_packed<T>(word, word)   each result rounded once, to nearest even
//   exp2_approx(v)                           2^v with a relative error below 2^-22, subnormals as zero (ex2.approx.ftz.f32)
//
// Arithmetic is plain C++ on float, with fmaf, sqrtf, fmaxf, ... of <cmath>.  On simt the compiler contracts nothing, so write
// fmaf where one rounding is meant.
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
