// SPDX-License-Identifier: Apache-2.0
// The device layer on a GPU: thin functions over CUDA C++.  device.cuh says what each word means.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "cuda/core/launch_observer.hpp"

namespace assay::on_gpu {

using half = __half;
using bfloat16 = __nv_bfloat16;

inline constexpr int kWarp = 32;
inline constexpr unsigned kAllLanes = 0xffffffffu;

template <class T, int N>
struct alignas(sizeof(T) * N) Vec {
  static_assert(sizeof(T) * N <= 16, "one access moves at most 16 bytes");
  T v[N];
  __host__ __device__ T& operator[](int i) { return v[i]; }
  __host__ __device__ const T& operator[](int i) const { return v[i]; }
};

__device__ __forceinline__ float to_float(float v) { return v; }
__device__ __forceinline__ float to_float(half v) { return __half2float(v); }
__device__ __forceinline__ float to_float(bfloat16 v) { return __bfloat162float(v); }
template <class T>
__device__ __forceinline__ T from_float(float v) {
  if constexpr (std::is_same_v<T, half>) return __float2half_rn(v);
  else if constexpr (std::is_same_v<T, bfloat16>) return __float2bfloat16_rn(v);
  else return static_cast<T>(v);
}

namespace detail {
template <int Bytes>
struct Raw;
template <>
struct Raw<1> {
  using type = unsigned char;
};
template <>
struct Raw<2> {
  using type = unsigned short;
};
template <>
struct Raw<4> {
  using type = unsigned;
};
template <>
struct Raw<8> {
  using type = uint2;
};
template <>
struct Raw<16> {
  using type = uint4;
};
template <class T>
using raw_t = typename Raw<sizeof(T)>::type;
template <class To, class From>
__device__ __forceinline__ To bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}
}  // namespace detail

// Converts N values.  Note: one instruction gives two 16-bit values, which stay in one register until they are stored.
template <class T, int N>
__device__ __forceinline__ Vec<T, N> from_floats(const float (&v)[N]) {
  if constexpr (N % 2 == 0 && sizeof(T) == 2) {
    Vec<unsigned, N / 2> words;
#pragma unroll
    for (int i = 0; i < N; i += 2) {
      if constexpr (std::is_same_v<T, half>) {
        words[i / 2] = detail::bits<unsigned>(__floats2half2_rn(v[i], v[i + 1]));
      } else {
        words[i / 2] = detail::bits<unsigned>(__floats2bfloat162_rn(v[i], v[i + 1]));
      }
    }
    return detail::bits<Vec<T, N>>(words);
  } else {
    Vec<T, N> out;
#pragma unroll
    for (int i = 0; i < N; ++i) out[i] = from_float<T>(v[i]);
    return out;
  }
}

// Note: ld and st have no streaming hints (.cs, L1::no_allocate), which cost layernorm_residual 9 % of its rate on an H200.
template <class T>
__device__ __forceinline__ T ld(const T* p) {
  return detail::bits<T>(*reinterpret_cast<const detail::raw_t<T>*>(p));
}
// Note: into L2, which all multiprocessors share, so that nothing old can be read by it.
__device__ __forceinline__ void prefetch(const void* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }
template <class T>
__device__ __forceinline__ void st(T* p, T v) {
  *reinterpret_cast<detail::raw_t<T>*>(p) = detail::bits<detail::raw_t<T>>(v);
}
template <class T>
__device__ __forceinline__ T* shared_memory(std::size_t byte_offset = 0) {
  extern __shared__ __align__(128) unsigned char assay_shared_arena[];
  return reinterpret_cast<T*>(assay_shared_arena + byte_offset);
}

__device__ __forceinline__ void sync_block() { __syncthreads(); }
__device__ __forceinline__ void sync_warp(unsigned mask = kAllLanes) { __syncwarp(mask); }
__device__ __forceinline__ void sync_named(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ __forceinline__ int linear_thread() {
  return static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}
__device__ __forceinline__ int lane_id() { return linear_thread() % kWarp; }
__device__ __forceinline__ int warp_id() { return linear_thread() / kWarp; }

template <class T>
__device__ __forceinline__ T shuffle(T v, int lane, unsigned mask = kAllLanes) {
  return __shfl_sync(mask, v, lane);
}
template <class T>
__device__ __forceinline__ T shuffle_xor(T v, int lane_mask, unsigned mask = kAllLanes) {
  return __shfl_xor_sync(mask, v, lane_mask);
}
template <class T>
__device__ __forceinline__ T shuffle_down(T v, unsigned delta, unsigned mask = kAllLanes) {
  return __shfl_down_sync(mask, v, delta);
}
template <class T>
__device__ __forceinline__ T shuffle_up(T v, unsigned delta, unsigned mask = kAllLanes) {
  return __shfl_up_sync(mask, v, delta);
}
template <class T, class F>
__device__ __forceinline__ T butterfly(T v, F f) {
#pragma unroll
  for (int offset = kWarp / 2; offset > 0; offset /= 2) v = f(v, shuffle_xor(v, offset));
  return v;
}
__device__ __forceinline__ unsigned ballot(bool p, unsigned mask = kAllLanes) { return __ballot_sync(mask, p); }
__device__ __forceinline__ bool any(bool p, unsigned mask = kAllLanes) { return __any_sync(mask, p); }
__device__ __forceinline__ bool all(bool p, unsigned mask = kAllLanes) { return __all_sync(mask, p); }
template <class T>
__device__ __forceinline__ T atomic_add(T* p, T v) {
  return atomicAdd(p, v);
}

__device__ __forceinline__ void next_grid_may_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
__device__ __forceinline__ void wait_for_previous_grid() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

struct LaunchConfig {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
  bool dependent = false;
};

inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorName(status) + " (" + cudaGetErrorString(status) + ")");
}

// Whether a launch may begin before the one before it has ended: from sm_90 on, by code made for the device's generation.  Code
// for an older one, which a driver compiles again, has no instruction that waits.  Note: static, since files may be made for
// different ones.
static inline bool launches_overlap() {
  static const bool overlap = [] {
    constexpr int kMadeFor[] = {__CUDA_ARCH_LIST__};
    int device = 0, major = 0;
    check(cudaGetDevice(&device), "asking for the device");
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "asking for the architecture");
    return major >= 9 && std::any_of(std::begin(kMadeFor), std::end(kMadeFor), [&](int arch) { return arch / 100 == major; });
  }();
  return overlap;
}

inline constexpr std::size_t kSharedByDefault = 48 * 1024;  // bytes; more takes an opt-in (CUDA C++ Programming Guide)

template <class... Params, class... Args>
void launch(void (*kernel)(Params...), const LaunchConfig& config, void* stream, Args&&... args) {
  if (config.shared_bytes > kSharedByDefault)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(config.shared_bytes)),
          "raising the shared memory limit");
  if (launch_observer.tell)
    launch_observer.tell(launch_observer.context, {.function = reinterpret_cast<const void*>(kernel),
                                                   .blocks = std::size_t{config.grid.x} * config.grid.y * config.grid.z,
                                                   .threads = static_cast<int>(config.block.x * config.block.y * config.block.z),
                                                   .dynamic_shared = config.shared_bytes});
  std::tuple<Params...> values(static_cast<Params>(std::forward<Args>(args))...);
  std::apply(
      [&](Params&... value) {
        void* pointers[] = {static_cast<void*>(&value)..., nullptr};
        cudaLaunchAttribute early{};
        early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        early.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t all{};
        all.gridDim = config.grid;
        all.blockDim = config.block;
        all.dynamicSmemBytes = config.shared_bytes;
        all.stream = static_cast<cudaStream_t>(stream);
        all.attrs = &early;
        all.numAttrs = config.dependent && launches_overlap() ? 1 : 0;
        check(cudaLaunchKernelExC(&all, reinterpret_cast<const void*>(kernel), pointers), "launch");
      },
      values);
}

}  // namespace assay::on_gpu

#include "cuda/core/mma_gpu.cuh"
