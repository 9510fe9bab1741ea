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
