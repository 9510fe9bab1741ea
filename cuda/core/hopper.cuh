// SPDX-License-Identifier: Apache-2.0
// The words that only sm_90a has, beside those of device.cuh.  hopper_gpu.cuh and wgmma_gpu.cuh define them under nvcc,
// simt/device_hopper.hpp under a plain C++ compiler.  The findings in simt/machine.hpp say in which order they must be called.
//
//   multiprocessors()                        host: how many the device has; on simt 1 to 4, so that a block takes several tiles
//   box_memory<T>(byte_offset = 0)           as shared_memory<T>, of an arena that starts 1024-byte aligned
//
// Barriers, 8 bytes of shared memory each.  A phase is over when `arrivals` have come and all bytes that it expects have landed.
//   barrier_init(b, arrivals)  barriers_ready()   one thread initialises the barriers, calls barriers_ready; sync_block follows
//   barrier_arrive(b)  barrier_arrive_expect(b, bytes)   counts one arrival; the second adds `bytes` to what the phase expects
//   barrier_wait(b, parity)                  waits until the phase of that parity is over; the first phase has parity 0
//
// Boxes of a tensor of rank 1 to 5, copied by one thread.  A TensorMap is a kernel parameter, const __grid_constant__.
//   tensor_map<T>(data, extents, strides, box, swizzle)   host: innermost axis first; strides in elements, from the second axis
//                                            on.  Throws std::invalid_argument if data or strides are not 16-byte aligned.
//                                            data: const T*; extents: {int64_t...}; strides: const int64_t*; box: {int...}
//   Swizzle::by_128                          rows of a box are 128 bytes; 16-byte chunk c lies at c ^ row % 8.  Also by_64 and
//                                            by_32; none: rows follow each other, each a multiple of 16 bytes
//   prefetch_map(map)                        fetches the map into a cache, before its first use
//   copy_box(shared, map, b, x, y...)        reads zeros outside the tensor; all bytes of the box count at b.  x is a multiple of
//                                            16 bytes: an H200 takes no other.  `shared` is 128-byte aligned, 1024 with by_128
//   store_box(map, shared, x, y...)  add_box(map, shared, x, y...)   x and `shared` as above; writes nothing outside the tensor
//                                            but the rest of a row's last 16 bytes; add_box adds floats
//   store_commit()  store_wait_read<N>()  store_wait<N>()   commit makes a group of the thread's stores; wait until all but its N
//                                            newest groups have been read from shared memory; until they are done
//   fence_shared_async()                     before wgmma, stores or copies meet what this thread has written to shared memory
//
// wgmma, by four warps: acc[n / 2] += A [64, k] B [n, k]^T over 32 bytes of k.  T is half, bfloat16 or tf32.  acc[i] of lane l of
// warp w is at row 16 w + l / 4 + 8 (i / 2 % 2), column 8 (i / 4) + 2 (l % 4) + i % 2.
//   k_major<T>(p)  mn_major<T>(p, leading_bytes)   an operand at p, swizzled by 128: rows of 128 bytes along k; or along m or n,
//                                            the next 128 bytes of m or n `leading_bytes` further on.  .plus(bytes) moves it: a
//                                            step of k is 32 bytes with k innermost, else 2048
//   wgmma_begin()                            call it before the first wgmma, and after registers of a wgmma were written
//   wgmma<T>(acc, a, b, keep)                keep = false: acc = A B^T.  a may be in registers, laid out as mma_m16n8k16's A
//   wgmma_commit()  wgmma_wait<N>(acc)       waits until all but the N newest groups are over; acc: all accumulators in use
//
//   take_registers<N>() give_registers<N>()  each thread of this warpgroup has N registers from now on; an SM has 65536
//   arrive_named(id, threads)                counts as sync_named does, but does not wait
//   stmatrix<N>(row, r)                      the reverse of ldmatrix<N>
//   keep_order()                             the compiler moves no load or store across it; costs no instruction
#pragma once

#include "cuda/core/device.cuh"

#if defined(__CUDACC__)
#include "cuda/core/hopper_gpu.cuh"
#include "cuda/core/wgmma_gpu.cuh"
#else
#include "device_hopper.hpp"
#endif
