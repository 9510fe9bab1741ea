// SPDX-License-Identifier: Apache-2.0
// The words that only sm_90a has, beside those of device.cuh: hopper_gpu.cuh and wgmma_gpu.cuh give them meaning under nvcc,
// simt/device_hopper.hpp under a plain C++ compiler.  The order they keep is told with the findings in simt/asynchronous.hpp.
//
//   multiprocessors()                        host: of the device; on simt 1 to 4, so that a block takes several tiles
//   box_memory<T>(byte_offset = 0)           as shared_memory<T>, of an arena that starts 1024-byte aligned
//
// Barriers, 8 bytes of shared memory.  A phase is over when `arrivals` have come and all bytes that it expects have landed.
//   barrier_init(b, arrivals)  barriers_ready()   one thread makes barriers, then tells; a barrier of the block follows
//   barrier_arrive(b)  barrier_arrive_expect(b, bytes)
//   barrier_wait(b, parity)                  until the phase of that parity is over; the first phase has parity 0
//
// Boxes of a tensor of rank 1 to 5, by one thread.  TensorMap is a kernel parameter: const __grid_constant__ TensorMap x.
//   tensor_map<T>(data, extents, strides, box, swizzle)   host: innermost first; strides in elements, from the second on.
//                                            16-byte alignment of data and strides; throws std::invalid_argument
//   Swizzle::by_128                          a box's row is 128 bytes, whose 16-byte chunk c lies at c ^ row % 8; also by_64, by_32
//   prefetch_map(map)
//                                            x is a multiple of 16 bytes: an H200 takes no other
//   copy_box(shared, map, b, x, y...)        zeros outside the tensor; all of the box's bytes count at b.  `shared` is 128-byte
//                                            aligned, 1024 with by_128
//   store_box(map, shared, x, y...)  add_box(map, shared, x, y...)   nothing outside the tensor but the rest of a row's last 16 bytes;
//                                            add_box: float, +=
//   store_commit()  store_wait_read<N>()  store_wait<N>()   until all but the thread's N newest groups have been read; are done
//   fence_shared_async()                     what this thread wrote to shared memory is for wgmma and stores, too
//
// wgmma of four warps: acc[n / 2] += A [64, k] B [n, k]^T, 32 bytes of k.  T is half, bfloat16 or tf32.  Lane l of warp w has row
// 16 w + l / 4 + 8 (i / 2 % 2), column 8 (i / 4) + 2 (l % 4) + i % 2.
//   k_major<T>(p)  mn_major<T>(p, leading_bytes)   tiles swizzled by 128: rows of 64 k, or of 64 m or n, `leading_bytes` between
//                                            those; .plus(bytes) moves them: 32 a step of k with k innermost, 2048 else
//   wgmma_begin()                            before the first of them, and after registers of theirs were written
//   wgmma<T>(acc, a, b, keep)                keep = false: acc = A B^T.  a may be words of registers, as of mma_m16n8k16's A
//   wgmma_commit()  wgmma_wait<N>(acc)       until all but the N newest groups are over; acc: all accumulators under way
//
//   take_registers<N>() give_registers<N>()  the registers a thread of this warpgroup has from now on; of 65536 an SM
//   arrive_named(id, threads)                as sync_named, but goes on at once
//   stmatrix<N>(row, r)                      the reverse of ldmatrix<N>
#pragma once

#include "cuda/core/device.cuh"

#if defined(__CUDACC__)
#include "cuda/core/hopper_gpu.cuh"
#include "cuda/core/wgmma_gpu.cuh"
#else
#include "device_hopper.hpp"
#endif
